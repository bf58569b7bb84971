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
delete wipe rid bin dispose eliminate expunge
update correct fix replace overwrite adapt tweak
create record store register define establish launch
create draft compose
add enter insert
upload submit
reorder sort arrange position rank order
pin unpin
tag label mark flag categorize
untag unlabel
schedule postpone reschedule book reserve
invite add join
join enter
leave quit exit
grant allow permit give share
ban block mute timeout kick suspend
unban unblock unmute
rotate renew refresh regenerate
reset clear
resize scale grow shrink
attach mount bind associate connect link
detach unmount unbind dissociate disconnect
reboot restart
render preview draw
press hit tap click
type enter fill input
wait hold until
navigate visit browse open
capture take screenshot
extract scrape parse
crawl spider
retry rerun redo repeat
test try simulate dry
validate lint
assign delegate
transition move status
release unlock
withdraw cancel undo retract
watch listen observe monitor notify
trigger fire emit
purchase buy order
pay settle charge
sign signing signature
encrypt decrypt
ingest load import
pull fetch download
sync synchronize replicate
ping health alive healthy heartbeat check
identify detect recognize
geocode coordinate latitude longitude
answer respond
rate rating score vote like thumb

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
concurrency simultaneous parallel
provision prewarm warm reserve
lambda function serverless
quota limit cap threshold allowance
account profile
profile me myself whoami identity signed
staff team member employee worker personnel people
owner author creator
reviewer review approval
assignee responsible owner
contact address book person
group list segment audience
playlist collection album
set expansion series collection
song track lyric
artist singer band musician performer
illustrator artist drawn drawer painter
cover image artwork thumbnail
photo portrait avatar picture image
clip video footage
broadcast livestream stream live
caption subtitle transcript
direction route way path
place restaurant shop store venue business poi
coordinate latitude longitude gps position
elevation altitude height
distance far travel
address street
station stop
store shop seller merchant
listing offer item sale
negotiation offer bid
discount coupon promotion promo deal voucher
cart basket checkout
shipping shipment delivery parcel
stock inventory
gift card
dispute chargeback
payout withdrawal transfer
tax vat
receipt invoice
loyalty point reward
customer buyer shopper
subscription membership
entity node object
relation relationship edge connection link
observation fact note remark
memory remember knowledge graph
folder directory path
trash bin recycle deleted
drive storage cloud
permission acl grant access sharing
link url share
object file key blob
bucket storage
archive backup glacier
version revision history
snapshot backup image
sync connection replication pipeline
destination target sink
source origin input
schema structure catalog definition
workspace environment
attempt retry run
definition type template connector
log entry event record line
query search
branch ref
commit change revision sha
diff change patch
merge pull mr pr
fork copy
release version tag
deployment rollout release environment
pipeline build ci
runner agent executor
artifact asset output
milestone sprint iteration goal
epic initiative
board kanban
backlog todo
worklog timesheet hours
vulnerability security cve
policy rule
rule filter condition
alias pointer nickname shortcut
layer dependency
permission policy
tab window page
browser chrome
dialog alert popup prompt confirm
button link element
form field input
console log message
network request traffic
viewport size screen resolution
emulate simulate device throttle
heap memory leak
trace profile performance
keyboard key shortcut press
screenshot image picture
script javascript code
header metadata
cookie session
draft unsent
signature footer
forwarding redirect forward
vacation autoreply responder
attachment file
thread conversation
label folder
filter rule
delegate assistant
history change
reaction emoji
channel room
direct dm private
presence status online
bot app
mention notify
poll vote survey
form survey questionnaire
response submission answer
question faq
cell range
row record line
column field
formula calculation
pivot chart
slide presentation deck
comment discussion feedback annotation
block paragraph section
property field attribute
template boilerplate blueprint preset
workflow automation flow zap
execution run
node step
trigger event
credential secret key password
variable env
dashboard board overview report
metric kpi measurement
alert monitor alarm
incident outage
schedule rotation shift
test spec case
suite collection
signature fingerprint error
flaky unstable
result outcome
portfolio holdings investment
volatility risk
return performance
asset security stock
forecast prediction outlook
alert warning
air quality pollution
observation measurement reading
device tracker vehicle
position location
geofence zone area
trip journey route
driver operator
category genre kind type group
suffix ending
illustration art
hp health
record dns
zone domain
registry registrar
firewall rule
load balancer
subnet network
region location datacenter
size plan tier
kernel os
ip address
ssl certificate
namespace project
pod container workload
deployment app
secret configmap
role permission group
policy permission
mfa factor authentication
session login
token credential
app application
client application
scope permission
model version
prompt instruction
completion answer
embedding vector
image picture
speech audio voice
recording call audio
conference call meeting
participant attendee member guest
sms text message
number phone
queue line
campaign newsletter mailing blast
subscriber recipient contact audience
bounce undelivered failed
suppression unsubscribe optout
template design
list audience
segment filter group
journey workflow automation
lead prospect
deal opportunity
pipeline funnel
company account organization
note memo
activity event history
goal target objective
time duration
budget spend cost
expense cost bill
bank account
transaction entry
journal ledger
credit note refund
quote estimate proposal
contract agreement
employee staff
leave absence holiday
payroll salary wage
applicant candidate
vacancy opening job position
course class lesson
student learner pupil
grade score mark
doctor practitioner physician
appointment visit booking
medication drug
flight plane airline
hotel accommodation room
booking reservation
recipe dish meal food
news article headline
author writer
book publication
paper publication article study
citation reference bibliography
license licence
institution university organization
preprint manuscript
wiki page article
edit change revision
editor contributor
pageview visit traffic view
media file image
language locale translation
currency money
country nation
language translate
unit measure
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
