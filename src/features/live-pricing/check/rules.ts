import { PRICE_RULES } from './price-rules.ts'
import { Broken, type Rule, Unchecked } from './rule.ts'
import { STORE_RULES } from './store-rules.ts'
import { TOKEN_RULES } from './token-rules.ts'

/** The rules of the live pricing API, in the order in which they are checked. */
export const RULES: Rule[] = [
  ...TOKEN_RULES,
  ...STORE_RULES,
  ...PRICE_RULES,
  {
    id: 'json',
    section: '4',
    basis: 'given',
    says: 'Every answer 200 is JSON, and its Content-Type says so.',
    async check({ probe }) {
      const good = probe.exchanges.filter(({ status }) => status === 200)
      const isJson = (type: string | null) => /^application\/([\w.-]+\+)?json *(;|$)/i.test(type ?? '')
      const wrong = good.find(
        ({ headers, json }) => json === undefined || !isJson(headers.get('content-type')),
      )
      if (wrong) {
        const type = wrong.headers.get('content-type')
        const what = wrong.json === undefined ? 'The body is not JSON' : 'The body is JSON'
        throw new Broken(`${what}, and its Content-Type is ${type ?? 'missing'}.`, wrong)
      }
      const last = good.at(-1)
      if (!last) throw new Unchecked('no call was answered 200')
      return last
    },
  },
  {
    id: 'no-faults',
    section: '7',
    basis: 'given',
    says: 'No call of this check was answered 5xx, or not at all.',
    async check({ probe }) {
      const fault = probe.exchanges.find(({ status }) => status === 0 || status >= 500)
      if (fault) throw new Broken(`A call was answered ${fault.status || 'not at all'}.`, fault)
      const last = probe.exchanges.at(-1)
      if (!last) throw new Unchecked('nothing was called')
      return last
    },
  },
]
