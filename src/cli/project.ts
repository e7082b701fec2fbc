import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const SKIPPED = new Set(['node_modules', '.git', '.data', 'coverage'])

/** The files of a clone, by their paths relative to it, and a list of what was changed. */
export interface Project {
  readonly root: string
  /** What was changed so far, for the user. */
  readonly done: string[]
  exists(path: string): boolean
  /** The files below a folder, or the file itself; without installed packages, data, and git's own. */
  filesBelow(path: string): string[]
  read(file: string): string
  /** Writes a file and notes what was changed, unless nothing was. */
  change(file: string, next: (text: string) => string, what: string): void
  /** Deletes a file or a folder, and notes how many files it had. */
  remove(path: string): void
}

/** Opens the clone in a folder. */
export function openProject(root: string): Project {
  const done: string[] = []
  const place = (path: string) => join(root, path)
  const filesBelow = (path: string): string[] => {
    if (!existsSync(place(path))) return []
    if (statSync(place(path)).isFile()) return [path]
    return readdirSync(place(path), { withFileTypes: true })
      .filter(({ name }) => !SKIPPED.has(name))
      .flatMap((entry) =>
        entry.isDirectory() ? filesBelow(join(path, entry.name)) : [join(path, entry.name)],
      )
  }
  const read = (file: string) => readFileSync(place(file), 'utf8')
  return {
    root,
    done,
    exists: (path) => existsSync(place(path)),
    filesBelow,
    read,
    change(file, next, what) {
      const before = read(file)
      const after = next(before)
      if (after === before) return
      writeFileSync(place(file), after)
      done.push(`${file}: ${what}`)
    },
    remove(path) {
      const count = filesBelow(path).length
      if (count === 0) return
      rmSync(place(path), { recursive: true })
      done.push(`${path}: deleted${count > 1 ? ` (${count} files)` : ''}`)
    },
  }
}

/** The parts of package.json that the commands change. */
export interface Manifest {
  name: string
  version: string
  description?: string
  scripts: Record<string, string>
  dependencies: Record<string, string>
  devDependencies: Record<string, string>
  /** What `npm run init` did, for `npm run update`. */
  starter?: Starter
}

export interface Starter {
  /** The product's name. */
  name: string
  /** The hash of git's tree with the files of the starter that the clone began with, or was last updated to. */
  tree: string
  /** Where the last update came from. */
  source?: string
}

export const readManifest = (project: Project): Manifest => JSON.parse(project.read('package.json'))

export function changeManifest(project: Project, next: (manifest: Manifest) => Manifest, what: string): void {
  project.change('package.json', (text) => `${JSON.stringify(next(JSON.parse(text)), null, 2)}\n`, what)
}

/** A map without some of its keys. */
export const without = <Value>(map: Record<string, Value>, isGone: (key: string, value: Value) => boolean) =>
  Object.fromEntries(Object.entries(map).filter(([key, value]) => !isGone(key, value)))
