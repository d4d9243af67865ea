package ken

import "ken/internal/spec"

// Spec returns the reader of the specs in the work tree.
func (w *Repository) Spec() *spec.Reader {
	return spec.NewReader(w.Workspace, spec.Options{Main: w.Config.Spec.Main, Loaded: w.LoadedSpecs})
}

// GatePolicy returns the configured policy of the gate.
func (w *Repository) GatePolicy() spec.GatePolicy { return w.Config.Spec.Gate }
