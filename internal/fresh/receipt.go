package fresh

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"ken/internal/repo"
)

// A Receipt is a verdict that can be checked later and elsewhere: the subject, the record, its basis and the
// commit.
type Receipt struct {
	Subject repo.Path
	Verdict State
	Basis   Digest
	Record  Digest
	Commit  repo.ID // HEAD at that time, zero without a commit
}

const receiptPrefix = "ken1:"

// receiptJSON fixes the order and names of the fields, so that equal receipts have equal texts.
type receiptJSON struct {
	Subject []byte  `json:"subject"`
	Verdict State   `json:"verdict"`
	Basis   Digest  `json:"basis"`
	Record  Digest  `json:"record"`
	Commit  repo.ID `json:"commit"`
}

// String returns the receipt as one word that you can paste anywhere.
func (r Receipt) String() string {
	b, err := json.Marshal(receiptJSON{[]byte(r.Subject), r.Verdict, r.Basis, r.Record, r.Commit})
	if err != nil {
		panic(err) // every field encodes
	}
	return receiptPrefix + base64.RawURLEncoding.EncodeToString(b)
}

var errNoReceipt = fmt.Errorf("not a receipt: it begins with %q, and the rest is cut off or was changed", receiptPrefix)

// ParseReceipt reads the result of String. Printing a parsed receipt returns the same text.
func ParseReceipt(s string) (Receipt, error) {
	body, ok := strings.CutPrefix(strings.TrimSpace(s), receiptPrefix)
	if !ok {
		return Receipt{}, fmt.Errorf("not a receipt: it does not begin with %q", receiptPrefix)
	}
	b, err := base64.RawURLEncoding.DecodeString(body)
	if err != nil {
		return Receipt{}, errNoReceipt
	}
	var j receiptJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return Receipt{}, errNoReceipt
	}
	r := Receipt{repo.Path(j.Subject), j.Verdict, j.Basis, j.Record, j.Commit}
	if r.String() != receiptPrefix+body {
		return Receipt{}, errNoReceipt
	}
	return r, nil
}
