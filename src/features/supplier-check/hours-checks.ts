import { DAYS } from '../../supplier-api/contract.ts'
import { type Exchange, isRecord } from './exchange.ts'
import { type Check, type Checks, type Fault, judgeEach, NotCheckedError, type Subject } from './rule.ts'
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

/** A check of the trading hours of every store that has such hours. `faultOf`: what is wrong with them, if anything. */
const judgeHours = (isSuch: (hours: Hours) => boolean, faultOf: (hours: Hours) => Fault): Check =>
  judgeEach(
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
  )

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
export const HOURS_CHECKS: Checks = {
  'store.time-zone': judgeHours(
    ({ timeZone }) => typeof timeZone === 'string',
    ({ timeZone }) => !isTimeZone(String(timeZone)) && `there is no time zone ${timeZone}`,
  ),
  'store.days': judgeHours(
    () => true,
    ({ days }) => {
      const names = days.map(({ day }) => String(day))
      const repeated = repeatedIn(names)
      if (repeated) return `${repeated} occurs twice`
      const absent = DAYS.find((day) => !names.includes(day))
      return absent && `${absent} is missing`
    },
  ),
  'store.holidays': judgeHours(
    ({ holidays }) => holidays.length > 0,
    ({ holidays }) => {
      const repeated = repeatedIn(holidays.map(({ date }) => String(date)))
      return repeated && `the holiday ${repeated} occurs twice`
    },
  ),
  'store.hours': judgeHours(
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
}
