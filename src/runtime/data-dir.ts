import { chmodSync, type Dirent, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** What this app keeps in `DATA_DIR`. */
const OURS = /^(store|sandbox(-\d+)?)\.sqlite|^secrets\.json|^imports$|^price-lists/
/** What others may have put there without meaning anything by it. */
const IGNORED = new Set(['lost+found', '.DS_Store', '.gitkeep'])

/**
 * Makes `DATA_DIR` and what this app keeps in it accessible to this user only: folders 0700, files 0600. A folder that
 * also holds other files is left alone if nobody else can open it. Throws an error of one line that names `DATA_DIR`.
 */
export function protectDataDir(dataDir: string): void {
  // Windows has no such modes.
  if (process.platform === 'win32') return
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    const entries = readdirSync(dataDir, { withFileTypes: true })
    const foreign = entries.find(({ name }) => !OURS.test(name) && !IGNORED.has(name))
    if (foreign && openTo(dataDir) !== 0) {
      throw new Error(
        `other users can read this folder, and it holds files of others (${foreign.name}): give the app a folder of its own, or run chmod 700 ${resolve(dataDir)}`,
      )
    }
    protect(dataDir, 0o700)
    for (const entry of entries) if (OURS.test(entry.name)) protectEntry(dataDir, entry)
  } catch (error) {
    throw new Error(`DATA_DIR: ${dataDir}: ${(error as Error).message}`)
  }
}

function protectEntry(folder: string, entry: Dirent): void {
  const path = join(folder, entry.name)
  if (entry.isFile()) protect(path, 0o600)
  if (!entry.isDirectory()) return
  protect(path, 0o700)
  for (const inner of readdirSync(path, { withFileTypes: true })) protectEntry(path, inner)
}

/** Permissions of a path for others than its user; 0 for one that is gone: other processes start and work meanwhile. */
const openTo = (path: string) => (statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o077

function protect(path: string, mode: number): void {
  if (openTo(path) === 0) return
  try {
    chmodSync(path, mode)
  } catch {
    // A volume may belong to a group that the app is in; it is closed to everybody else.
    if ((openTo(path) & 0o007) === 0) return
    const command = `chmod ${mode.toString(8)} ${resolve(path)}`
    throw new Error(`other users can open ${path}, and this user may not change that: run ${command}`)
  }
}
