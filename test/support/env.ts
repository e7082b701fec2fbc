import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
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

export function tempDir(): TempDir {
  const dir = mkdtempSync(join(tmpdir(), 'connect-test-'))
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
