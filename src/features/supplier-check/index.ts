import type { Feature } from '../feature.ts'

/** Checks any implementation of the live pricing API (`npm run check-supplier`). */
export const supplierCheck: Feature = { name: 'supplier-check' }
