import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const CLIENT = { clientId: 'test-client', clientSecret: `secret-${randomBytes(12).toString('hex')}` }

/** A temporary folder. */
export interface TempDir {
  dir: string
  /** Writes a file into it; returns its path. */
  write(content: string | Uint8Array, name?: string): string
  remove(): void
}

/** On Linux, a folder in memory. */
const MEMORY = '/dev/shm'

/** Whether tests have a folder in memory with a gigabyte of room. Benchmarks (`npm run bench`) use the disk. */
function hasMemory(): boolean {
  if (!process.env.VITEST || !existsSync(MEMORY)) return false
  const { bavail, bsize } = statfsSync(MEMORY)
  return bavail * bsize > 1e9
}

// SQLite waits for a disk at each write, which would take most of a test's time.
const FAST = hasMemory() ? MEMORY : tmpdir()

export function tempDir(parent = FAST): TempDir {
  const dir = mkdtempSync(join(parent, 'connect-test-'))
  return {
    dir,
    write(content, name = 'prices.csv') {
      const path = join(dir, name)
      writeFileSync(path, content)
      return path
    },
    remove: () => rmSync(dir, { recursive: true, force: true }),
  }
}

export function testEnv(extra: Record<string, string>): Record<string, string> {
  return {
    SESSION_SECRET: randomBytes(32).toString('base64url'),
    TOKEN_ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    PLATFORM_CLIENT_ID: CLIENT.clientId,
    PLATFORM_CLIENT_SECRET: CLIENT.clientSecret,
    LOG_LEVEL: 'info',
    ...extra,
  }
}
