import { PRICE_RULES } from './price-rules.ts'
import { NotCheckedError, type Rule, RuleViolationError } from './rule.ts'
import { STORE_RULES } from './store-rules.ts'
import { TOKEN_RULES } from './token-rules.ts'

/** All rules, in the order in which they are checked. */
export const RULES: Rule[] = [
  ...TOKEN_RULES,
  ...STORE_RULES,
  ...PRICE_RULES,
  {
    id: 'json',
    section: '4',
    basis: 'given',
    requirement: 'Every 200 response is JSON with a matching Content-Type.',
    async check({ probe }) {
      const successful = probe.exchanges.filter(({ status }) => status === 200)
      const isJson = (type: string | null) => /^application\/([\w.-]+\+)?json *(;|$)/i.test(type ?? '')
      const invalid = successful.find(
        ({ headers, json }) => json === undefined || !isJson(headers.get('content-type')),
      )
      if (invalid) {
        const type = invalid.headers.get('content-type')
        const finding = invalid.json === undefined ? 'The body is not JSON' : 'The body is JSON'
        throw new RuleViolationError(`${finding}, and its Content-Type is ${type ?? 'missing'}.`, invalid)
      }
      const last = successful.at(-1)
      if (!last) throw new NotCheckedError('no call returned 200')
      return last
    },
  },
  {
    id: 'no-faults',
    section: '7',
    basis: 'given',
    requirement: 'Every call of this check got a response, and none returned 5xx.',
    async check({ probe }) {
      const failed = probe.exchanges.find(({ status }) => status === 0 || status >= 500)
      if (failed)
        throw new RuleViolationError(
          failed.status ? `A call returned ${failed.status}.` : 'A call got no response.',
          failed,
        )
      const last = probe.exchanges.at(-1)
      if (!last) throw new NotCheckedError('no calls were made')
      return last
    },
  },
]
