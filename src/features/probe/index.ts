import type { Feature } from '../feature.ts'

/** Compares the platform with the assumptions of the contracts, after one consent (`npm run probe`). */
export const probe: Feature = { name: 'probe', needs: ['doctor'] }
