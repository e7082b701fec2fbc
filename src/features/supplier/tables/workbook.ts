import { posix } from 'node:path'
import yauzl, { type Entry, type ZipFile } from 'yauzl'
import { type CellFormats, createCellFormats } from './cell-formats.ts'
import { createCpuLimit } from './cpu-limit.ts'
import { UnreadableFileError } from './errors.ts'
import { createRichText } from './rich-text.ts'
import type { OpenFile, Row, Sheet } from './sheet.ts'
import { SheetParser } from './sheet-parser.ts'
import { texts } from './texts.ts'
import { type Element, localName, parseXml } from './xml.ts'

/** Packing shrinks Office documents to about a tenth. For the CPU limit, unpacking gives at most this many times the file's size. */
const MAX_RATIO = 20

/** A sheet as the workbook lists it, with the path of its part in the archive. */
type ListedSheet = Pick<Sheet, 'name' | 'isHidden'> & { path: string }

/** An open archive. Its entries are found by their paths in lower case. */
interface Archive {
  zip: ZipFile
  entries: Map<string, Entry>
  checkCpu: () => void
}

/**
 * Opens an XLSX workbook (ECMA-376), whose sheets are streamed. Only the shared strings and the formats are kept in memory. Throws
 * `UnreadableFileError`, also while reading the rows.
 */
export async function openWorkbook(path: string, cpuMs: () => number): Promise<OpenFile> {
  const zip = await yauzl.openPromise(path, { autoClose: false }).catch(rethrow)
  const close = () => zip.close()
  try {
    const archive = await readEntries(zip, cpuMs)
    const sheets = await readSheets(archive)
    if (sheets.length === 0) throw new UnreadableFileError(0, texts.unreadable.noSheets)
    const strings = await readSharedStrings(archive)
    const formats = createCellFormats()
    await readPart(archive, 'xl/styles.xml', formats.see)
    return { sheets: sheets.map((sheet) => openSheet(archive, sheet, strings, formats)), close }
  } catch (error) {
    close()
    return rethrow(error)
  }
}

async function readEntries(zip: ZipFile, cpuMs: () => number): Promise<Archive> {
  const entries = new Map<string, Entry>()
  let bytes = 0
  for await (const entry of zip.eachEntry()) {
    bytes += entry.uncompressedSize
    entries.set(entry.fileName.toLowerCase(), entry)
  }
  return { zip, entries, checkCpu: createCpuLimit(Math.min(bytes, zip.fileSize * MAX_RATIO), cpuMs) }
}

function openSheet(archive: Archive, sheet: ListedSheet, strings: string[], formats: CellFormats): Sheet {
  let parser = new SheetParser(strings, formats)
  async function* rows(): AsyncGenerator<Row[]> {
    parser = new SheetParser(strings, formats)
    try {
      for await (const _ of partOf(archive, sheet.path, (element) => parser.see(element)))
        yield parser.rows.splice(0)
    } catch (error) {
      rethrow(error)
    }
  }
  return {
    name: sheet.name,
    isHidden: sheet.isHidden,
    rows,
    async notes() {
      // Codes such as `&C` (centred) and `&P` (the page number) are not text.
      const printed = parser.printed.map((text) => text.replace(/&("[^"]*"|\d+|[A-Z])/gi, ' '))
      const found = [...(await readComments(archive, sheet).catch(rethrow)), ...printed]
      return found.filter((text) => text.trim() !== '')
    },
    hiddenRows: () => parser.hiddenRows,
  }
}

/** Throws errors of the archive or its XML as `UnreadableFileError`. */
function rethrow(error: unknown): never {
  if (error instanceof UnreadableFileError) throw error
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  // This is an error of the file system, and not the user's fault.
  if (typeof code === 'string' && /^E[A-Z]+$/.test(code)) throw error
  throw new UnreadableFileError(1, texts.unreadable.damagedWorkbook)
}

/** Passes the elements of a part of the archive to `see`, and yields after each chunk. Does nothing if there is no such part. */
async function* partOf(archive: Archive, path: string, see: (element: Element) => void) {
  const entry = archive.entries.get(path.toLowerCase())
  if (entry) yield* parseXml(openPart(archive, entry), see)
}

async function readPart(archive: Archive, path: string, see: (element: Element) => void): Promise<void> {
  for await (const _ of partOf(archive, path, see));
}

/** Streams a part. */
async function* openPart({ zip, checkCpu }: Archive, entry: Entry): AsyncGenerator<Buffer> {
  for await (const bytes of await zip.openReadStreamPromise(entry)) {
    checkCpu()
    yield bytes
  }
  checkCpu()
}

const WORKBOOK = 'xl/workbook.xml'

/** The paths of the parts that another part refers to, by the ids of the relationships. */
async function readTargets(archive: Archive, part: string): Promise<Map<string, string>> {
  const targets = new Map<string, string>()
  const path = posix.join(posix.dirname(part), '_rels', `${posix.basename(part)}.rels`)
  await readPart(archive, path, ({ attributes: { Id = '', Target = '' } }) => {
    targets.set(Id, posix.resolve('/', posix.dirname(part), Target).slice(1))
  })
  return targets
}

/** The texts of the comments and text boxes of a sheet: one for each comment and each paragraph of a text box. */
async function readComments(archive: Archive, { path }: ListedSheet): Promise<string[]> {
  const found: string[] = []
  const richText = createRichText()
  // Several links may lead to one part.
  for (const part of new Set((await readTargets(archive, path)).values()))
    if (/comment|drawing/i.test(posix.basename(part)) && archive.entries.has(part.toLowerCase()))
      await readPart(archive, part, (element) => {
        if (element.name === 'text' && element.parent?.name === 'threadedComment') found.push(element.text)
        else if (element.name === 'comment' || element.name === 'p') found.push(richText.take())
        else richText.see(element)
      })
  return found
}

/** The sheets that the workbook lists, each part once. */
async function readSheets(archive: Archive): Promise<ListedSheet[]> {
  if (!archive.entries.has(WORKBOOK))
    throw new UnreadableFileError(0, texts.unreadable.otherFormat(nameOf(archive)))
  const targets = await readTargets(archive, WORKBOOK)
  const sheets = new Map<string, ListedSheet>()
  await readPart(archive, WORKBOOK, ({ name, attributes }) => {
    if (name !== 'sheet') return
    const [, id = ''] = Object.entries(attributes).find(([key]) => localName(key) === 'id') ?? []
    const path = targets.get(id) ?? ''
    const isHidden = (attributes.state ?? 'visible') !== 'visible'
    if (archive.entries.has(path.toLowerCase()) && !sheets.has(path))
      sheets.set(path, { name: attributes.name ?? '', path, isHidden })
  })
  return [...sheets.values()]
}

/** What an archive without an XLSX workbook is, if it has a file with such a name. */
const OTHER_ARCHIVES: [file: RegExp, name: string][] = [
  [/^xl\/workbook\.bin$/, 'an Excel binary workbook (.xlsb)'],
  [/\.iwa$/, 'a Numbers document of Apple (.numbers)'],
  [/^content\.xml$/, 'an OpenDocument spreadsheet (.ods)'],
]

const nameOf = ({ entries }: Archive): string =>
  OTHER_ARCHIVES.find(([file]) => [...entries.keys()].some((name) => file.test(name)))?.[1] ??
  'a zip file, but not an XLSX workbook'

/** The texts that cells refer to by number. */
async function readSharedStrings(archive: Archive): Promise<string[]> {
  const strings: string[] = []
  const richText = createRichText()
  await readPart(archive, 'xl/sharedStrings.xml', (element) => {
    if (element.name === 'si') strings.push(richText.take())
    else richText.see(element)
  })
  return strings
}
