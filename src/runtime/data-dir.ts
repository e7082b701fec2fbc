import { chmodSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { resolve } from 'node:path'

/** Names that this app uses in `DATA_DIR`, and names that say nothing about who uses the folder. */
const OURS =
  /^(store|sandbox(-\d+)?)\.sqlite|^secrets\.json|^imports$|^price-lists|^(lost\+found|\.DS_Store|\.gitkeep)$/

/**
 * Closes `DATA_DIR` to other users (mode 0700), so that they reach none of the files in it. Does not change a folder that
 * contains other files; throws if other users can open it. Errors have one line and name `DATA_DIR`.
 */
export function protectDataDir(dataDir: string): void {
  // Windows has no file modes.
  if (process.platform === 'win32') return
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    if ((statSync(dataDir).mode & 0o077) === 0) return
    const other = readdirSync(dataDir).find((name) => !OURS.test(name))
    if (other !== undefined)
      throw new Error(
        `other users can access this folder, and it contains other files (${other}): use a separate folder, or run chmod 700 ${resolve(dataDir)}`,
      )
    close(dataDir)
  } catch (error) {
    throw new Error(`DATA_DIR: ${dataDir}: ${error instanceof Error ? error.message : error}`)
  }
}

function close(folder: string): void {
  try {
    chmodSync(folder, 0o700)
  } catch {
    // Accept access of the group: a volume may belong to a group of the app's user.
    if ((statSync(folder).mode & 0o007) === 0) return
    throw new Error(
      `other users can access this folder, and this user cannot change its mode: run chmod 700 ${resolve(folder)}`,
    )
  }
}
