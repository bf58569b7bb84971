package toolsearch

import (
	"slices"
	"strings"
)

// synonymGroups are words that mean the same or nearly the same in names of tools, one group a line. A word may be in
// several groups; it gets the others of each. The verbs stand before the empty line.
const synonymGroups = `
create add new make open insert register generate build
add attach append include assign put link
register enroll signup
list show get find fetch read view retrieve see browse display give tell lookup load
find search query lookup locate discover filter
get describe inspect detail info show information
check verify validate test status
delete remove drop erase destroy clear purge trash discard
remove detach unassign unlink leave revoke disconnect
update edit change modify set rename adjust patch alter replace amend configure
send post message notify deliver email
start run execute launch trigger begin invoke perform
stop cancel abort terminate end halt kill
close resolve complete finish done
enable activate
disable deactivate suspend pause
restore undelete recover undo revert rollback
copy duplicate clone fork replicate
move transfer relocate migrate
upload import
download export save
share invite
approve accept confirm
reject deny decline refuse
compare diff difference
convert transform translate
merge combine join
count number total amount many
subscribe follow watch
unsubscribe unfollow
star favorite favourite bookmark like
lock freeze protect
publish release deploy ship
archive hide
reply respond answer comment
comment note remark feedback
summarize summary overview
calculate compute
schedule plan cron
log record
login signin authenticate

issue ticket bug problem incident
pull merge pr mr
repository repo
user member person people account teammate colleague contact employee
customer client contact
organization organisation org company workspace team
group team
folder directory
file document doc attachment
picture image photo screenshot
mail email message inbox
meeting event appointment calendar
label tag category
server instance vm machine host node droplet
database db
sheet spreadsheet
password credential secret
key token
permission access role privilege right
metric statistic stat analytic usage report
chart graph plot
alert notification alarm
task todo job
job run workflow pipeline build action
project board
page article wiki
song track music
movie film video
picture avatar
invoice bill
payment charge transaction
refund
subscription plan
price cost rate
product item sku
order purchase
money balance fund
address location place
history log audit
website site url web link
domain dns
phone number call sms text
chat conversation thread channel dm
column field attribute property
row record entry item
variable env environment setting config configuration
version release revision
code source
text content body
name title
description detail
date time day
function method
error exception failure crash
dependency package library module
certificate cert ssl tls
network vpc
volume disk storage
bucket s3
container docker
cluster kubernetes k8s
ai model llm
weather forecast temperature
webhook hook callback
`

type synonym struct {
	stem string
	verb bool
}

func (s synonym) weight() float64 {
	if s.verb {
		return verbSynonymWeight
	}
	return synonymWeight
}

// synonyms has the other stems of the groups of a stem.
var synonyms = readSynonyms(synonymGroups)

func readSynonyms(groups string) map[string][]synonym {
	all := map[string][]synonym{}
	verbs := true
	for line := range strings.Lines(groups) {
		if line == "\n" && len(all) > 0 {
			verbs = false
		}
		var stems []string
		for word := range strings.FieldsSeq(line) {
			stems = append(stems, stemWord(word))
		}
		for _, stem := range stems {
			for _, other := range stems {
				if other != stem && !slices.ContainsFunc(all[stem], func(s synonym) bool { return s.stem == other }) {
					all[stem] = append(all[stem], synonym{other, verbs})
				}
			}
		}
	}
	return all
}
