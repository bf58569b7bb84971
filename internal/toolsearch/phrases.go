package toolsearch

import (
	"slices"
	"strings"
)

// phraseLines are several words of a question and what they mean, in words of tools.
const phraseLines = `
get rid of = delete
take down = delete
take off = remove
throw away = delete
throw out = delete
clean up = delete
wipe out = delete
cross off = complete
put back = restore
bring back = restore
roll back = rollback
turn off = disable
switch off = disable
turn on = enable
switch on = enable
shut down = stop
spin up = create
set up = create
sign up = create register
write down = create
write up = create
put in = add
put together = create
fill in = fill
fill out = fill
check off = complete
mark as done = complete
call off = cancel
hand over = transfer
pass on = forward
look up = lookup
look for = search
find out = get
tell me = get
show me = show
give me = get
let me see = show
how many = count number
how much = amount
who can = permission
who has access = permission
at once = batch bulk
in bulk = batch bulk
in one go = batch bulk
in a single request = batch bulk
in one request = batch bulk
all together = batch bulk
log in = login
log out = logout
sign in = login
signed in = login
sign out = logout
add on = addon
web hook = webhook
web page = page
web site = website
web site address = url
address book = contact
phone book = contact
pull request = pull merge
merge request = merge pull
direct message = dm message
user name = username
file name = filename
time zone = timezone
data base = database
data set = dataset
data source = datasource source
work space = workspace
to do = task todo
credit note = creditnote credit
out of office = vacation
serverless function = lambda function
due date = deadline due
time off = leave
key value = kv
short link = link
knowledge base = article
access list = acl
access control list = acl
feature toggle = feature flag
on call = oncall
`

type phrase struct{ words, meaning []string }

// phrases has the phrases by their first word, longer ones first.
var phrases = readPhrases(phraseLines)

func readPhrases(lines string) map[string][]phrase {
	all := map[string][]phrase{}
	for line := range strings.Lines(lines) {
		left, right, found := strings.Cut(line, "=")
		if !found {
			continue
		}
		p := phrase{strings.Fields(left), strings.Fields(right)}
		all[p.words[0]] = append(all[p.words[0]], p)
	}
	for _, list := range all {
		slices.SortStableFunc(list, func(a, b phrase) int { return len(b.words) - len(a.words) })
	}
	return all
}

// replacePhrases returns the words with phrases replaced by their meaning.
func replacePhrases(words []string) []string {
	replaced := make([]string, 0, len(words)+4)
	for i := 0; i < len(words); i++ {
		at := slices.IndexFunc(phrases[words[i]], func(p phrase) bool {
			return len(p.words) <= len(words)-i && slices.Equal(p.words, words[i:i+len(p.words)])
		})
		if at < 0 {
			replaced = append(replaced, words[i])
			continue
		}
		p := phrases[words[i]][at]
		replaced = append(replaced, p.meaning...)
		i += len(p.words) - 1
	}
	return replaced
}

// weakWords say little about a tool, although few tools have them.
var weakWords = wordSet(`old new existing specific single exact exactly current currently certain zero two three four five six seven eight nine ten
	hundred first last next previous recent recently anymore already still everything anything something someone somebody nobody nothing everyone
	way thing things lot bit help today tomorrow yesterday week month year whole entire full complete separate different another instead
	again always never ever longer soon later quickly fast back around along across whatever right exactly properly really actually
	want like good bad best better big small long short high low own real actual given called named using use used based keep kept
	look put take give tell make let got gets getting goes going come comes know knows think see sees say says said seem seems
	work works working people person guys company business stuff somewhere anywhere available possible related sure ready via plus per
	morning afternoon evening night hour hours minute minutes second seconds days weeks months years monday tuesday wednesday thursday friday
	saturday sunday january february march april june july august september october november december`)
