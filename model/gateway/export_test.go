package gateway

// ShareCatalogue saves tests with many gateways from reading it for each.
func (g *Gateway) ShareCatalogue(from *Gateway) {
	from.prices.catalogue.load()
	g.prices.catalogue = from.prices.catalogue
}
