//go:build offline

package cli

import (
	"context"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/gateway"
)

// vendorsBuiltIn says whether the vendors' SDKs are part of this program.
const vendorsBuiltIn = false

// leftOut stands where a vendor's provider would, and says why it is not there.
type leftOut struct {
	model.NoEmbeddings
	name string
}

func (l leftOut) Name() string { return l.name }

func (l leftOut) Complete(context.Context, *model.Request, func(model.Delta)) (*model.Response, error) {
	return nil, fault.New(fault.Permanent, leftOutNote(l.name)+
		"; build without the tag, or run with --mock-responses", nil)
}

func leftOutNote(name string) string {
	return "provider " + name + " is not in this program, which was built with -tags offline"
}

func vendorEntries(environment) ([]gateway.Entry, error) {
	return []gateway.Entry{{Provider: leftOut{name: "openai"}}}, nil
}

func vendorInfo(environment) []providerInfo {
	return []providerInfo{{Name: "openai", Note: "not in this program, which was built with -tags offline"}}
}
