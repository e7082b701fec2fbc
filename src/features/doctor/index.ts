import type { Feature } from '../feature.ts'

/** Finds out why the app or the platform does not work as set up (`npm run doctor`). */
export const doctor: Feature = { name: 'doctor' }
