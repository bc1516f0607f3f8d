package dnslookup

import (
	"errors"
	"fmt"
)

// Code tells why a question has no answer.
type Code string

// The codes. NoName and NoRecord are what the DNS says; with the others it said
// nothing.
const (
	NoName        Code = "no_such_name"
	NoRecord      Code = "no_such_record"
	BadChain      Code = "bad_chain"
	ServerFailure Code = "server_failure"
	Refused       Code = "refused"
	Timeout       Code = "timeout"
	NoServer      Code = "no_server"
)

// Failure is a question without an answer.
type Failure struct {
	Code Code
	// Name is what was asked for, which may be the end of a chain of CNAME records.
	Name string
	// Type is the type of the records.
	Type string
}

// Error says why in words for the owner of the name.
func (f *Failure) Error() string {
	switch f.Code {
	case NoName:
		return fmt.Sprintf("The name %s does not exist in the DNS.", f.Name)
	case NoRecord:
		return fmt.Sprintf("The name %s has no %s record.", f.Name, f.Type)
	case BadChain:
		return fmt.Sprintf("The CNAME records of %s lead in a circle or over more than %d names.", f.Name, maxChain)
	case ServerFailure:
		return fmt.Sprintf("The nameservers of %s answered with an error.", f.Name)
	case Refused:
		return fmt.Sprintf("The DNS server refused to answer for %s.", f.Name)
	case Timeout:
		return fmt.Sprintf("The DNS did not answer for %s in time.", f.Name)
	}
	return fmt.Sprintf("No DNS server gave a usable answer for %s.", f.Name)
}

// IsAbsent reports whether an error is the statement of the DNS that there is no
// such name or record.
func IsAbsent(err error) bool { return isCode(err, NoName) || isCode(err, NoRecord) }

// IsUnanswered reports whether an error means that the DNS said nothing of the name:
// the fault may lie with the servers that were asked, not with its records.
func IsUnanswered(err error) bool {
	return isCode(err, ServerFailure) || isCode(err, Refused) || isCode(err, Timeout) || isCode(err, NoServer)
}

func isCode(err error, code Code) bool {
	var f *Failure
	return errors.As(err, &f) && f.Code == code
}
