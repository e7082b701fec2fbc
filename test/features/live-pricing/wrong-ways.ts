import type { Tamper } from './wrong-suppliers.ts'
import { PRICE_WAYS } from './wrong-ways-prices.ts'
import { STORE_WAYS } from './wrong-ways-stores.ts'
import { TOKEN_WAYS } from './wrong-ways-token.ts'

/** For every rule, ways to break it. */
export const WRONG: Record<string, [string, Tamper][]> = { ...TOKEN_WAYS, ...STORE_WAYS, ...PRICE_WAYS }
