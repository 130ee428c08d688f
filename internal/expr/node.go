package expr

// kind is a node's class, by the name that CPython's ast gives it.
type kind string

// The classes that an expression may hold. All others are made by the parser
// only to be named in a SecurityError.
const (
	kConstant  kind = "Constant"
	kName      kind = "Name"
	kAttribute kind = "Attribute"
	kSubscript kind = "Subscript"
	kSlice     kind = "Slice"
	kCall      kind = "Call"
	kKeyword   kind = "keyword"
	kBinOp     kind = "BinOp"
	kBoolOp    kind = "BoolOp"
	kUnaryOp   kind = "UnaryOp"
	kCompare   kind = "Compare"
	kIfExp     kind = "IfExp"
	kList      kind = "List"
	kTuple     kind = "Tuple"
	kDict      kind = "Dict"
	kStarred   kind = "Starred"
)

// A node is one construct of the expression.
//
//	Constant    val, or refused
//	Name        text
//	Attribute   kids[0].text
//	Subscript   kids[0][kids[1]]
//	Slice       kids: lower, upper, step, each may be nil
//	Call        kids[0](kids[1:]…), keyword nodes last
//	keyword     text = kids[0]; text is "" for **
//	BinOp       kids[0] op kids[1], op by its class name (Add, Sub, Mult, …)
//	BoolOp      kids joined by op (And, Or)
//	UnaryOp     op (Not, UAdd, USub, Invert) kids[0]
//	Compare     kids[0] ops[0] kids[1] ops[1] …, ops as they are written
//	IfExp       kids[1] if kids[0] else kids[2]
//	List, Tuple kids
//	Dict        kids: key, value, key, value, …; a key is nil for **
type node struct {
	kind    kind
	op      string
	ops     []string
	text    string
	val     any
	refused string // why a Constant is refused
	kids    []*node
	off     int
	parens  bool // written in parentheses of its own
}
