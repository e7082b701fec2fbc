import type { UserData } from '../../web/feature-api.ts'
import { NO_COUNTS, readRound, writeRound } from './round.ts'

/** The cursor of a round may contain a user's id. It tells nothing else about the user. */
export default {
  exportUser: async () => null,
  /** If the cursor contains the id, the round starts again with the first user. */
  async deleteUser({ store }, _settings, userId) {
    const round = await readRound(store)
    if (round?.cursor?.includes(userId))
      await writeRound(store, { ...round, cursor: null, counts: NO_COUNTS })
  },
} satisfies UserData
