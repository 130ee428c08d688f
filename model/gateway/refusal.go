package gateway

// Refusal is the cause of a fault.Budget error: which budget did not allow the
// call. Of nested budgets it is the one that has the least left.
type Refusal struct{ Budget *Budget }

func (*Refusal) Error() string { return "refused by the budget" }

// Unwrap says that the call was not sent.
func (*Refusal) Unwrap() error { return errNotSent }
