package uses

import "strings"

// isCommonMember reports whether the standard libraries have methods of that name. A call
// of such a method on a value of unknown type does not identify its declaration.
func isCommonMember(name string) bool { return commonMembers()[strings.ToLower(name)] }

var commonMembers = set(`
	abort accept add addeventlistener all allsettled any append apply args array as at await
	begin bind body bool buffer bytes call cancel capacity casefold catch center charat charcodeat children chunk clear clone close code
	collect compare compareto concat connect constructor contains containskey containsvalue context copy copywithin count create
	data day debug decode default deinit delete description destroy difference dispose do done drain dump dumps
	each elem emit empty encode end endswith entries entryset enter equal equals error errorf every exec execute exists exit expandtabs extend
	fatal fatalf fields file files fill filter finalize finally find findall findindex finditer findlast first flat flatmap flush fmt foldl for foreach format
	formatmap from fromkeys fullmatch func get getattr getclass getitem getname getorelse getvalue group groups
	handle has hasnext hasownproperty hash hashcode head header headers height hour id includes index indexof info init insert int
	interface intersection intersects into invoke is isalnum isalpha isascii isdecimal isdigit isempty isequal isfile isdir islower isnil
	isnumeric isspace istitle isupper isvalid isinstance items iter iterator join json key keys keyset kind kill
	last lastindexof len length less limit line lines list ljust load loads localecompare lock log lookup lower lstrip
	main map mapped match matchall max maketrans message method min minute mode month move msg
	name new next normalize now nth null of off offset ok on once open option or order
	output padend padstart panic parent parse parts partition path peek pipe pop popitem port position post print printf println
	process push put query queue quit race raise range read readall readfile readline readlines ready receive recv reduce reduceright register
	reject release remove removeall removeeventlistener removeprefix removesuffix rename render repeat replace replaceall request reset
	resize resolve response result retain return returns reverse rfind rindex rjust rpartition rsplit rstrip rollback root rows run
	save scan schedule search second seek select send serialize serve server set setattr setdefault setitem setup setvalue shape shift show
	shutdown sign size skip skipwhile sleep slice some sort sorted source splice split splitlines start startswith startwith state status stat step stop
	store str stream string strip sub subn submit subscribe substr substring success sum super swap swapcase symmetric_difference sync
	tail take takewhile target tell test text then throw time timeout title toarray tobe toequal tolist tolocalestring tolowercase tostring touppercase
	to_s to_a to_h to_i to_sym total translate traverse trim trimend trimstart truncate try type unbind union unlock unmarshal unref unshift unsubscribe unwrap update upper
	url use user validate value valueof values version view visit wait walk warn watch where width with withdefault wrap write writefile writeline writelines
	writerow writestring yield year zfill zip
`)
