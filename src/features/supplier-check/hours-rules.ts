import { DAYS } from '../../supplier-api/contract.ts'
import { type Exchange, isRecord } from './exchange.ts'
import { type Fault, judgeEach, NotCheckedError, type Rule, type Subject } from './rule.ts'
import { lookUpStores } from './stores.ts'

interface Hours {
  store: string | number
  exchange: Exchange
  timeZone: unknown
  days: Record<string, unknown>[]
  holidays: Record<string, unknown>[]
}

/** The trading hours of every store that was looked up. */
async function allHours(subject: Subject): Promise<Hours[]> {
  return (await lookUpStores(subject)).flatMap(({ id, exchange }): Hours[] => {
    const trading = isRecord(exchange.json) ? exchange.json.tradingHours : undefined
    if (!isRecord(trading)) return []
    const { timeZone, dailyTradingHours, publicHolidays } = trading
    return [
      { store: id, exchange, timeZone, days: records(dailyTradingHours), holidays: records(publicHolidays) },
    ]
  })
}

const records = (value: unknown) => (Array.isArray(value) ? value.filter(isRecord) : [])

/** A rule about the trading hours of every store that has such hours. `fault`: what is wrong with them, if anything. */
const hoursRule = (
  id: string,
  title: string,
  isSuch: (hours: Hours) => boolean,
  faultOf: (hours: Hours) => Fault,
): Rule => ({
  id,
  title,
  needs: ['store.form'],
  check: judgeEach(
    async (subject) => {
      const answers = (await allHours(subject)).filter(isSuch)
      const [first] = answers
      if (first) return { exchange: first.exchange, answers }
      throw new NotCheckedError('no store that was looked up has such hours; name one with --store ID')
    },
    (hours) => {
      const fault = faultOf(hours)
      return fault && `For store ${hours.store}, ${fault}.`
    },
  ),
})

function isTimeZone(name: string): boolean {
  if (!/^[a-z]/i.test(name)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

/** What is wrong with the opening hours of a day. Times such as 07:00 sort as texts. */
function problemOf(openings: Record<string, unknown>[]): string | undefined {
  const times = openings
    .map(({ opens, closes }) => ({ opens: String(opens), closes: String(closes) }))
    .sort((a, b) => (a.opens < b.opens ? -1 : 1))
  const backward = times.find(({ opens, closes }) => closes <= opens)
  if (backward) return `hours end before they begin: ${backward.opens} to ${backward.closes}`
  const overlap = times.find(({ opens }, index) => index > 0 && opens < String(times[index - 1]?.closes))
  return overlap && `hours overlap at ${overlap.opens}`
}

const repeatedIn = (names: readonly string[]) => names.find((name, index) => names.indexOf(name) < index)

/** Trading hours (specification 2.2 names the schemas; all fields are assumed). */
export const HOURS_RULES: Rule[] = [
  hoursRule(
    'store.time-zone',
    'The time zone of a store exists in the IANA time zone database.',
    ({ timeZone }) => typeof timeZone === 'string',
    ({ timeZone }) => !isTimeZone(String(timeZone)) && `there is no time zone ${timeZone}`,
  ),
  hoursRule(
    'store.days',
    'The trading hours of a store have each day of the week once.',
    () => true,
    ({ days }) => {
      const names = days.map(({ day }) => String(day))
      const repeated = repeatedIn(names)
      if (repeated) return `${repeated} occurs twice`
      const absent = DAYS.find((day) => !names.includes(day))
      return absent && `${absent} is missing`
    },
  ),
  hoursRule(
    'store.holidays',
    'The trading hours of a store have each public holiday once.',
    ({ holidays }) => holidays.length > 0,
    ({ holidays }) => {
      const repeated = repeatedIn(holidays.map(({ date }) => String(date)))
      return repeated && `the holiday ${repeated} occurs twice`
    },
  ),
  hoursRule(
    'store.hours',
    'Opening hours end after they begin, and do not overlap.',
    ({ days, holidays }) =>
      [...days, ...holidays].some(({ openingHours }) => records(openingHours).length > 0),
    ({ days, holidays }) => {
      for (const { day, date, openingHours } of [...days, ...holidays]) {
        const found = problemOf(records(openingHours))
        if (found) return `${found} (${day ?? date})`
      }
      return undefined
    },
  ),
]
