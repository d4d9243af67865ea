package config

import (
	"errors"
	"fmt"
	"io/fs"

	"ken/internal/contract"
	"ken/internal/fault"
)

// ContractName is where a project extends the contract of the workflow directory,
// from the repository root.
const ContractName = ".ken/contract.yaml"

// LoadContract returns the contract in force in the work tree at root: the default
// one, and what the project adds to it. Outside of any, root is "".
func LoadContract(root string) (*contract.Contract, error) {
	if root == "" {
		return contract.Default(), nil
	}
	b, err := read(root, ContractName)
	if errors.Is(err, fs.ErrNotExist) {
		return contract.Default(), nil
	}
	if err != nil {
		return nil, &fault.Error{
			Hint: "correct " + ContractName + ", or move it aside to use the default contract",
			Err:  fmt.Errorf("read %s: %w", ContractName, err),
		}
	}
	return contract.Extend(contract.Default(), b, ContractName)
}
