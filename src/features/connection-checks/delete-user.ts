import type { FeatureDeps } from '../../web/kit.ts'
import { readRound, writeRound } from './round.ts'

/** The place where a round continues may name the user: then it begins again with the first one. */
export default async function deleteUser(
  { store }: FeatureDeps,
  _settings: unknown,
  userId: string,
): Promise<void> {
  const round = await readRound(store)
  if (round?.cursor?.includes(userId)) await writeRound(store, { ...round, cursor: null })
}
