import { connectionKind } from '../../connect/index.ts'
import type { FeatureDeps } from '../../web/kit.ts'
import { readRound, writeRound } from './round.ts'

/** The place where a round continues may name the user: then it begins again with the first one. */
export default async function deleteUser(
  { store, connect }: FeatureDeps,
  _settings: unknown,
  userId: string,
): Promise<void> {
  const kind = connectionKind(connect.platform.name)
  const round = await readRound(store, kind)
  if (round?.cursor?.includes(userId)) await writeRound(store, kind, { ...round, cursor: null })
}
