def total(prices):
    """Add up a cart, in cents."""
    return sum(prices)
