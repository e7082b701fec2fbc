import type { Feature } from '../../web/kit.ts'

/** Checks any implementation of the live pricing API (`npm run feature -- supplier-check run`). */
export default { title: 'Supplier check', order: 70 } satisfies Feature
