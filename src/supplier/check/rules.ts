import { PRICE_RULES } from './price-rules.ts'
import { Broken, type Rule, Unchecked } from './rule.ts'
import { STORE_RULES } from './store-rules.ts'
import { TOKEN_RULES } from './token-rules.ts'

/** The rules of Interface A, in the order in which they are checked. */
export const RULES: Rule[] = [
  ...TOKEN_RULES,
  ...STORE_RULES,
  ...PRICE_RULES,
  {
    ...{ id: 'no-faults', section: '7', basis: 'given' },
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
