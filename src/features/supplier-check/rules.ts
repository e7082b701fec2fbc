import { readFileSync } from 'node:fs'
import { parse } from 'csv-parse/sync'
import { ACCESS_CHECKS } from './access-checks.ts'
import { BASE_PRICE_CHECKS } from './base-price-checks.ts'
import { CREDENTIAL_CHECKS } from './credential-checks.ts'
import { DISTANCE_CHECKS } from './distance-checks.ts'
import { ERROR_CHECKS } from './error-checks.ts'
import { HOURS_CHECKS } from './hours-checks.ts'
import { LINE_ERROR_CHECKS } from './line-error-checks.ts'
import { MEMBER_CHECKS } from './member-checks.ts'
import { REQUEST_CHECKS } from './request-checks.ts'
import type { Checks, Rule } from './rule.ts'
import { SEARCH_CHECKS } from './search-checks.ts'
import { STATE_CHECKS } from './state-checks.ts'
import { STORE_CHECKS } from './store-checks.ts'
import { TOKEN_CHECKS } from './token-checks.ts'
import { TOTAL_CHECKS } from './total-checks.ts'
import { WIRE_CHECKS } from './wire-checks.ts'

/** The check of each rule. */
export const CHECKS: Checks = {
  ...ACCESS_CHECKS,
  ...BASE_PRICE_CHECKS,
  ...CREDENTIAL_CHECKS,
  ...DISTANCE_CHECKS,
  ...ERROR_CHECKS,
  ...HOURS_CHECKS,
  ...LINE_ERROR_CHECKS,
  ...MEMBER_CHECKS,
  ...REQUEST_CHECKS,
  ...SEARCH_CHECKS,
  ...STATE_CHECKS,
  ...STORE_CHECKS,
  ...TOKEN_CHECKS,
  ...TOTAL_CHECKS,
  ...WIRE_CHECKS,
}

interface Row {
  id: string
  /** Empty if it is assumed. */
  given: string
  /** Ids, separated by spaces. */
  needs: string
  title: string
}

const ROWS: Row[] = parse(readFileSync(new URL('rules.csv', import.meta.url)), { columns: true })

/** All rules, in the order in which they are checked: each after those that it needs. */
export const RULES: readonly Rule[] = ROWS.map(({ id, given, needs, title }) => {
  const check = CHECKS[id]
  if (!check) throw new Error(`rules.csv has the rule ${id}, which has no check`)
  return { id, title, needs: needs.split(' ').filter(Boolean), check, ...(given && { given }) }
})
