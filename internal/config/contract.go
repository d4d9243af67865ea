package config

import (
	"errors"
	"fmt"
	"io/fs"

	"ken/internal/contract"
	"ken/internal/fault"
)

// ContractName is the path of the file in which a project adds to the contract of the workflow directory, from the
// repository root.
const ContractName = ".ken/contract.yaml"

// LoadContract returns the contract of a state directory in the work tree at root: the
// default contract for that directory, with what the project adds. Outside a work tree,
// root is "". If dir is "", the directory is the one that the contract names.
func LoadContract(root, dir string) (*contract.Contract, error) {
	if root == "" {
		return contract.DefaultFor(dir), nil
	}
	b, err := read(root, ContractName)
	if errors.Is(err, fs.ErrNotExist) {
		return contract.DefaultFor(dir), nil
	}
	if err != nil {
		return nil, &fault.Error{
			Hint: "correct " + ContractName + ", or move it aside to use the default contract",
			Err:  fmt.Errorf("read %s: %w", ContractName, err),
		}
	}
	return contract.Extend(dir, b, ContractName)
}
