package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

func newInfo(p *program) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "info",
		Short: "Show the environment: settings and providers found here",
		Long: `Show the version, the settings found here and the providers that are ready.
Keys are named, never shown. Nothing is sent anywhere.`,
		Args: checkedArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error { return runInfo(p, asJSON) },
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return c
}

// information is what `agentloom info` shows.
type information struct {
	Build       build          `json:"build"`
	VendorSDKs  bool           `json:"vendor_sdks"` // false when built with -tags offline
	Directory   string         `json:"working_directory"`
	ConfigFiles []string       `json:"config_files"`
	Dotenv      bool           `json:"dotenv"`
	Variables   []string       `json:"variables_set"`
	Settings    []effective    `json:"settings"`
	Providers   []providerInfo `json:"providers"`
	Sandbox     sandboxInfo    `json:"sandbox"`
}

// effective is a setting as it stands before flags and a workflow's own config.
type effective struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	From  string `json:"from"`
}

// infoVariables are the variables worth naming when they are set. Those with
// the prefix AGENTLOOM_ are added.
func infoVariables() []string {
	names := []string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "NO_COLOR"}
	for _, v := range vendors() {
		names = append(append(names, v.keyVars...), v.baseVars...)
	}
	return names
}

func runInfo(p *program, asJSON bool) error {
	set, err := p.settings()
	if err != nil {
		return err
	}
	in := information{
		Build:       thisBuild(),
		VendorSDKs:  vendorsBuiltIn,
		Directory:   p.workingDir(),
		ConfigFiles: append([]string{}, set.files...),
		Dotenv:      set.env.file,
		Variables:   set.variablesSet(),
		Settings:    set.effective(),
		Providers: append(vendorInfo(set),
			providerInfo{Name: mockName, Ready: true, Note: "canned responses, offline"}),
		Sandbox: kernelInfo(),
	}
	if asJSON {
		return p.printJSON(in)
	}
	return p.print(infoText(in, p.out))
}

func (s settings) variablesSet() []string {
	names := []string{}
	for _, name := range append(infoVariables(), s.env.names("AGENTLOOM_")...) {
		if s.env.vars[name] != "" {
			names = append(names, s.env.origin(name))
		}
	}
	slices.Sort(names)
	return names
}

func (s settings) effective() []effective {
	out := []effective{}
	for i, t := range settingTable() {
		if v := s.variable(i); v != "" {
			out = append(out, effective{t.flag, v, s.env.origin(t.variable)})
		} else if v := s.fromFile(i); v != "" {
			out = append(out, effective{t.flag, v, "agentloom.yaml"})
		}
	}
	return out
}

func infoText(in information, st style) string {
	var b strings.Builder
	row := func(name, text string) { fmt.Fprintf(&b, "%s  %s\n", st.bold(pad(name, 17)), text) }
	row("version", line(in.Build.String()))
	if !in.VendorSDKs {
		row("", "built with -tags offline: the vendors' SDKs are left out, workflows run with the mock provider")
	}
	row("working directory", line(in.Directory))
	for i, f := range in.ConfigFiles {
		row([]string{"settings file", ""}[min(i, 1)], line(f))
	}
	if len(in.ConfigFiles) == 0 {
		row("settings file", "none (agentloom.yaml)")
	}
	row(".env", map[bool]string{true: "found", false: "none"}[in.Dotenv])
	for i, v := range in.Variables {
		row([]string{"variables", ""}[min(i, 1)], line(v)+" set")
	}
	for i, s := range in.Settings {
		row([]string{"settings", ""}[min(i, 1)], fmt.Sprintf("%s = %s (%s)", s.Name, line(s.Value), line(s.From)))
	}
	for i, pr := range in.Providers {
		state := st.green("ready")
		if !pr.Ready {
			state = st.yellow("not set up")
		}
		if pr.Note != "" {
			state += ": " + line(pr.Note)
		}
		row([]string{"providers", ""}[min(i, 1)], pr.Name+" "+state)
	}
	sandboxRows(row, in.Sandbox)
	return b.String()
}

func sandboxRows(row func(name, text string), in sandboxInfo) {
	head := "sandbox, kernel"
	for _, text := range in.Enforced {
		row(head, text)
		head = ""
	}
	for _, text := range in.Missing {
		row(head, "not: "+text)
		head = ""
	}
}
