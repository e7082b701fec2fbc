import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'

const SKIPPED = ['node_modules', '.git', '.data', '.demo', 'coverage']

/** The files of a clone. Their paths are relative to the clone, with slashes on Windows too. */
export type Project = ReturnType<typeof openProject>

/** Opens the clone in a folder; by default, this one. */
export function openProject(root = fileURLToPath(new URL('../..', import.meta.url))) {
  const place = (path: string) => join(root, path)
  /** Lists the files below a folder, or the file itself. Leaves out installed packages, data, coverage and git's files. */
  const filesBelow = (path: string): string[] => {
    if (!existsSync(place(path))) return []
    if (statSync(place(path)).isFile()) return [path]
    return readdirSync(place(path), { withFileTypes: true })
      .filter(({ name }) => !SKIPPED.includes(name))
      .flatMap((entry) =>
        entry.isDirectory() ? filesBelow(posix.join(path, entry.name)) : posix.join(path, entry.name),
      )
  }
  return {
    root,
    filesBelow,
    exists: (path: string) => existsSync(place(path)),
    /** The text of a file with LF line endings, because a checkout or an editor on Windows may use CRLF. */
    read: (file: string) => readFileSync(place(file), 'utf8').replaceAll('\r\n', '\n'),
    /** Writes a file, and creates its folder if necessary. */
    write(file: string, text: string): void {
      mkdirSync(dirname(place(file)), { recursive: true })
      writeFileSync(place(file), text)
    },
    /** Deletes a file or a folder, if it exists, and the folders above it that are then empty. */
    remove(path: string): void {
      rmSync(place(path), { recursive: true, force: true })
      for (let above = dirname(path); existsSync(place(above)); above = dirname(above)) {
        if (readdirSync(place(above)).length > 0) return
        rmdirSync(place(above))
      }
    },
  }
}

/** The parts of package.json that the commands change. */
export interface Manifest {
  name: string
  version: string
  license?: string
  engines?: object
  scripts: Record<string, string>
  dependencies: Record<string, string>
  devDependencies: Record<string, string>
  /** The data for `npm run update`. `npm run init` and each update write it. */
  starter?: {
    /** The version of the starter that the clone began with, or was last updated to. */
    version: string
    /** The hash of the git tree that the clone began with. The tree has all files of that version. */
    tree: string
    /** The source of the last update. */
    source?: string
  }
}

/** The names of all packages of a `package.json`. */
export const packagesOf = ({ dependencies, devDependencies }: Manifest): string[] =>
  Object.keys({ ...dependencies, ...devDependencies })

export const readManifest = (project: Project): Manifest => JSON.parse(project.read('package.json'))

export const writeManifest = (project: Project, manifest: object): void =>
  project.write('package.json', `${JSON.stringify(manifest, null, 2)}\n`)
