import { DAYS } from '../../supplier-api/contract.ts'
import { type Exchange, isRecord } from './exchange.ts'
import { NotCheckedError, type Rule, RuleViolationError, type Subject } from './rule.ts'
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

/** Checks the trading hours of every store. `problem` says what is wrong with them, if anything. */
async function checkHours(
  subject: Subject,
  isKnown: (hours: Hours) => boolean,
  problem: (hours: Hours) => string | undefined,
): Promise<Exchange> {
  const known = (await allHours(subject)).filter(isKnown)
  const [first] = known
  if (!first)
    throw new NotCheckedError('no store that was looked up has such hours; name one with --store ID')
  for (const hours of known) {
    const found = problem(hours)
    if (found) throw new RuleViolationError(`For store ${hours.store}, ${found}.`, hours.exchange)
  }
  return first.exchange
}

const timeZone: Rule = {
  id: 'store.time-zone',
  title: 'The time zone of a store exists in the IANA time zone database.',
  given: undefined,
  needs: ['store.form'],
  check: (subject) =>
    checkHours(
      subject,
      (hours) => typeof hours.timeZone === 'string',
      (hours) => (isTimeZone(String(hours.timeZone)) ? undefined : `there is no time zone ${hours.timeZone}`),
    ),
}

function isTimeZone(name: string): boolean {
  if (!/^[a-z]/i.test(name)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

const days: Rule = {
  id: 'store.days',
  title: 'The trading hours of a store have each day of the week once.',
  given: undefined,
  needs: ['store.form'],
  check: (subject) =>
    checkHours(
      subject,
      () => true,
      (hours) => {
        const names = hours.days.map(({ day }) => String(day))
        const repeated = names.find((day, index) => names.indexOf(day) < index)
        if (repeated) return `${repeated} occurs twice`
        const absent = DAYS.find((day) => !names.includes(day))
        return absent && `${absent} is missing`
      },
    ),
}

const holidays: Rule = {
  id: 'store.holidays',
  title: 'The trading hours of a store have each public holiday once.',
  given: undefined,
  needs: ['store.form'],
  check: (subject) =>
    checkHours(
      subject,
      (hours) => hours.holidays.length > 0,
      (hours) => {
        const dates = hours.holidays.map(({ date }) => String(date))
        const repeated = dates.find((date, index) => dates.indexOf(date) < index)
        return repeated && `the holiday ${repeated} occurs twice`
      },
    ),
}

const opening: Rule = {
  id: 'store.hours',
  title: 'Opening hours end after they begin, and do not overlap.',
  given: undefined,
  needs: ['store.form'],
  check: (subject) =>
    checkHours(
      subject,
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

/** Trading hours (specification 2.2 names the schemas; all fields are assumed). */
export const HOURS_RULES: Rule[] = [timeZone, days, holidays, opening]
