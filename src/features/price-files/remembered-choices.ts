import { createHash } from 'node:crypto'
import type { Key, KeyValueStore } from '../../connect/stores.ts'
import { choicesSchema } from './import-job.ts'
import type { Layout } from './layout.ts'
import type { Choices } from './questions.ts'

/** Whose choices they are: those of a user for one connection. */
interface Owner {
  userId: string
  bxcontext: string
}

/** How long choices are remembered after they were last made, in ms: longer than a price list lasts. */
const REMEMBERED_MS = 400 * 86_400_000

export type RememberedChoices = ReturnType<typeof createRememberedChoices>

/** Remembers how a user chose to read a file, for the next one with the same headings. */
export function createRememberedChoices(store: KeyValueStore) {
  const keyOf = ({ userId, bxcontext }: Owner, layoutId: string): Key => ({
    kind: 'import-choices',
    owner: userId,
    id: `${bxcontext} ${layoutId}`,
  })
  return {
    /** Identifies the headings as they were recognised without any choice; null if there are none. */
    layoutOf({ headings, headingsLine, sheets, questions, saysTaxIncluded }: Layout): string | null {
      // Nothing tells whether the columns of a file without headings are those of another one.
      if (headingsLine === 0) return null
      // The answers to other questions, or about other titles, could be wrong.
      const asked = JSON.stringify([headings, sheets, questions, saysTaxIncluded])
      return createHash('sha256').update(asked).digest('hex').slice(0, 32)
    },
    async find(owner: Owner, layoutId: string): Promise<Choices | null> {
      const value = await store.get(keyOf(owner, layoutId))
      return value === null ? null : (choicesSchema.safeParse(JSON.parse(value)).data ?? null)
    },
    save: (owner: Owner, layoutId: string, choices: Choices): Promise<void> =>
      store.set(keyOf(owner, layoutId), JSON.stringify(choices), REMEMBERED_MS),
    async forget(owner: Owner, layoutId: string): Promise<void> {
      await store.delete(keyOf(owner, layoutId))
    },
  }
}
