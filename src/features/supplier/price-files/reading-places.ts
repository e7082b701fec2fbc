/** How many files are read at the same time. Only one of them may have `LARGE` bytes or more. */
const PLACES = 2
const LARGE = 1_000_000

interface Turn {
  userId: string
  isLarge: boolean
  start: () => void
}

/**
 * Lets two files be read at the same time: at most one large file, and at most one file of each user. So nobody's files delay
 * those of others for long. If several files could be next, it is the one that has waited longest.
 */
export function createReadingPlaces() {
  const reading = new Set<Turn>()
  const waiting = new Set<Turn>()

  const hasPlace = ({ userId, isLarge }: Turn) =>
    reading.size < PLACES &&
    ![...reading].some((other) => other.userId === userId || (isLarge && other.isLarge))

  function startNext(): void {
    for (const turn of waiting) {
      if (!hasPlace(turn)) continue
      waiting.delete(turn)
      reading.add(turn)
      turn.start()
    }
  }

  /** Reads a file of a user when it has a place. `bytes`: its size. */
  return async <T>(
    { userId, bytes }: { userId: string; bytes: number },
    read: () => Promise<T>,
  ): Promise<T> => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const turn = { userId, isLarge: bytes >= LARGE, start: resolve }
    waiting.add(turn)
    startNext()
    await promise
    try {
      return await read()
    } finally {
      reading.delete(turn)
      startNext()
    }
  }
}
