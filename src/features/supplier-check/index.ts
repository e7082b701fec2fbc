import type { Feature } from '../feature.ts'

/** Checks any implementation of the live pricing API (`npm run check-supplier`). */
export default { title: 'Supplier check', order: 70 } satisfies Feature
