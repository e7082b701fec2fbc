import type { Feature } from '../../../web/feature-api.ts'

/** Checks any implementation of the live pricing API (`npm run feature -- supplier-check run`). */
export default {
  title: 'A command that checks any implementation of live pricing',
  order: 70,
} satisfies Feature
