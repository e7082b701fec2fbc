import { isRecord, isSuccess } from './exchange.ts'
import { lineOf, requestPrices, storeOrUnknown } from './prices.ts'
import { type Checks, NotCheckedError, RuleViolationError, type Subject, UNKNOWN_ID } from './rule.ts'

/** Letters that are two bytes each in UTF-8 and one in Latin-1. */
const LETTERS = 'Größe-é'

/** What all answers have in common (specification 4). */
export const WIRE_CHECKS: Checks = {
  async 'json.utf8'(subject) {
    const { probe } = subject
    const item = `${LETTERS}-${UNKNOWN_ID}`
    const echo = await requestPrices(subject, [lineOf(item, await storeOrUnknown(subject), 1)])
    const invalid = probe.exchanges.find((exchange) => isSuccess(exchange) && !exchange.isUtf8)
    if (invalid) throw new RuleViolationError('The body is not valid UTF-8.', invalid)
    if (echo.text.includes(LETTERS) || JSON.stringify(echo.json ?? '').includes(LETTERS)) return echo
    const latin1 = Buffer.from(LETTERS).toString('latin1')
    const answer = Array.isArray(echo.json) && isRecord(echo.json[0]) ? String(echo.json[0].itemId) : ''
    if (echo.text.includes(latin1) || answer.includes('\ufffd') || answer.startsWith('Gr??'))
      throw new RuleViolationError(`The item code ${item} comes back as ${answer}.`, echo)
    const proof = probe.exchanges.find(
      (exchange) => isSuccess(exchange) && /[^\p{ASCII}]/u.test(exchange.text),
    )
    if (proof) return proof
    throw new NotCheckedError('no answer has a character beyond ASCII, nor repeats the code of an item')
  },
  async 'json.type'({ probe }: Subject) {
    const successful = probe.exchanges.filter(
      (exchange) => isSuccess(exchange) && exchange.json !== undefined,
    )
    const isJson = (type: string | null) =>
      /^application\/([\w.-]+\+)?json *(; *charset="?utf-8"? *)?$/i.test(type ?? '')
    const invalid = successful.find(({ headers }) => !isJson(headers.get('content-type')))
    if (invalid) {
      const type = invalid.headers.get('content-type')
      throw new RuleViolationError(`The body is JSON, and its Content-Type is ${type ?? 'missing'}.`, invalid)
    }
    const marked = successful.find(({ text }) => text.startsWith('\ufeff'))
    if (marked)
      throw new RuleViolationError(
        'The body begins with a byte order mark: JSON must not have one (RFC 8259 section 8.1).',
        marked,
      )
    const last = successful.at(-1)
    if (last) return last
    throw new NotCheckedError('no call succeeded')
  },
}
