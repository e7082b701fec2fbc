import type { FeatureDeps } from '../../web/feature-api.ts'
import { readRound, writeRound } from './round.ts'

/** The cursor of a round may contain the user's id. If it does, the round starts again with the first user. */
export default async function deleteUser(
  { store }: FeatureDeps,
  _settings: unknown,
  userId: string,
): Promise<void> {
  const round = await readRound(store)
  if (round?.cursor?.includes(userId)) await writeRound(store, { ...round, cursor: null })
}
