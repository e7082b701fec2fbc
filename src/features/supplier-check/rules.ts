import { ACCESS_RULES } from './access-rules.ts'
import { BASE_PRICE_RULES } from './base-price-rules.ts'
import { CREDENTIAL_RULES } from './credential-rules.ts'
import { DISTANCE_RULES } from './distance-rules.ts'
import { ALL_LINES_RULES, ERROR_RULES } from './error-rules.ts'
import { HOURS_RULES } from './hours-rules.ts'
import { LINE_ERROR_RULES } from './line-error-rules.ts'
import { MEMBER_RULES } from './member-rules.ts'
import { REQUEST_RULES } from './request-rules.ts'
import type { Rule } from './rule.ts'
import { SEARCH_DETAIL_RULES, SEARCH_RULES } from './search-rules.ts'
import { LASTING_RULES, LATER_TOKEN_RULES, STATE_RULES } from './state-rules.ts'
import { STORE_RULES } from './store-rules.ts'
import { TOKEN_RULES } from './token-rules.ts'
import { TOTAL_RULES } from './total-rules.ts'
import { WIRE_RULES } from './wire-rules.ts'

/** All rules, in the order in which they are checked: each after those that it needs. */
export const RULES: readonly Rule[] = [
  ...TOKEN_RULES,
  ...LATER_TOKEN_RULES,
  ...SEARCH_RULES,
  ...DISTANCE_RULES,
  ...SEARCH_DETAIL_RULES,
  ...STORE_RULES,
  ...HOURS_RULES,
  ...BASE_PRICE_RULES,
  ...TOTAL_RULES,
  ...LINE_ERROR_RULES,
  ...ERROR_RULES,
  ...REQUEST_RULES,
  ...MEMBER_RULES,
  ...STATE_RULES,
  ...WIRE_RULES,
  ...ACCESS_RULES,
  ...LASTING_RULES,
  ...ALL_LINES_RULES,
  ...CREDENTIAL_RULES,
]
