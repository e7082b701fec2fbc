import { posix } from 'node:path'
import { crc32 } from 'node:zlib'
import yauzl, { type Entry, type ZipFile } from 'yauzl'
import { type CellFormats, createCellFormats } from './cell-formats.ts'
import { UnreadableFileError } from './errors.ts'
import type { OpenFile, Row, Sheet } from './sheet.ts'
import { createSheetParser, MAX_CELL_LENGTH } from './sheet-parser.ts'
import { createRuns } from './text-runs.ts'
import { texts } from './texts.ts'
import { attribute, parseXml, type XmlEvents } from './xml.ts'

/**
 * Office documents shrink to a tenth or so; a part of more bytes than this, unpacked, that shrank to a small part of its size is
 * hostile. The process that reads the file has limits for everything else.
 */
const MIN_SUSPICIOUS = 50_000_000
const MAX_RATIO = 200

/** Whether a file begins like a zip archive, which an XLSX workbook is. */
export const isWorkbook = (start: Buffer): boolean => start.toString('latin1') === 'PK\u0003\u0004'

/** A sheet as the workbook lists it, with the path of its part in the archive. */
interface ListedSheet {
  name: string
  path: string
  isHidden: boolean
}

/** An open archive. */
interface Archive {
  zip: ZipFile
  entries: Map<string, Entry>
}

/**
 * Opens an XLSX workbook (ECMA-376), whose sheets are streamed. Only the shared strings are kept in memory. Throws
 * `UnreadableFileError`, also while reading the rows.
 */
export async function openWorkbook(path: string): Promise<OpenFile> {
  const archive = await openArchive(path)
  const close = () => archive.zip.close()
  try {
    const { sheets, date1904 } = await readSheets(archive)
    if (sheets.length === 0) throw new UnreadableFileError(0, texts.unreadable.noSheets)
    const strings = await readSharedStrings(archive)
    const formats = createCellFormats(date1904)
    await readPart(archive, 'xl/styles.xml', formats.events)
    return { sheets: sheets.map((sheet) => openSheet(archive, sheet, strings, formats)), close }
  } catch (error) {
    close()
    throw toReadable(error)
  }
}

function openSheet(archive: Archive, sheet: ListedSheet, strings: string[], formats: CellFormats): Sheet {
  const hiddenColumns = new Set<number>()
  const printed: string[] = []
  let hiddenRows = 0
  async function* rows(): AsyncGenerator<Row[]> {
    try {
      const parser = createSheetParser(strings, formats, hiddenColumns)
      const entry = archive.entries.get(sheet.path.toLowerCase())
      if (!entry) return
      for await (const _ of parseXml(openPart(archive, entry), parser.events)) {
        const found = parser.takeRows()
        hiddenRows = parser.hiddenRows()
        if (found.length > 0) yield found
      }
      // `&C` and `&P` place and number what is printed.
      printed.push(...parser.printed.map((text) => text.replace(/&("[^"]*"|\d+|[A-Z])/gi, ' ').trim()))
    } catch (error) {
      throw toReadable(error)
    }
  }
  return {
    name: sheet.name,
    isHidden: sheet.isHidden,
    rows,
    comments: () =>
      readComments(archive, sheet).catch((error: unknown) => {
        throw toReadable(error)
      }),
    printed,
    hiddenColumns,
    hiddenRows: () => hiddenRows,
  }
}

async function openArchive(path: string): Promise<Archive> {
  const entries = new Map<string, Entry>()
  let zip: ZipFile | undefined
  try {
    zip = await yauzl.openPromise(path, { autoClose: false })
    for await (const entry of zip.eachEntry()) {
      const { fileName, uncompressedSize, compressedSize } = entry
      const ratio = uncompressedSize / Math.max(compressedSize, 1)
      if (uncompressedSize > MIN_SUSPICIOUS && ratio > MAX_RATIO)
        throw new UnreadableFileError(1, texts.unreadable.hugeWorkbook)
      entries.set(fileName.toLowerCase(), entry)
    }
    return { zip, entries }
  } catch (error) {
    zip?.close()
    throw toReadable(error)
  }
}

/** Errors of the archive or its XML as `UnreadableFileError`. */
function toReadable(error: unknown): unknown {
  if (error instanceof UnreadableFileError) return error
  const { code } = error as NodeJS.ErrnoException
  // The file itself cannot be read: that is not the user's fault.
  if (typeof code === 'string' && /^E[A-Z]+$/.test(code)) return error
  return new UnreadableFileError(1, texts.unreadable.damagedWorkbook)
}

/** Passes a part of the archive, as XML, to `events`. Does nothing if the part does not exist. */
async function readPart(archive: Archive, path: string, events: XmlEvents) {
  const entry = archive.entries.get(path.toLowerCase())
  if (!entry) return false
  for await (const _ of parseXml(openPart(archive, entry), events));
  return true
}

/** Streams a part, and throws at its end if its checksum is not that of the archive. */
async function* openPart({ zip }: Archive, entry: Entry): AsyncGenerator<Buffer> {
  let checksum = 0
  for await (const bytes of await zip.openReadStreamPromise(entry)) {
    checksum = crc32(bytes, checksum)
    yield bytes
  }
  if (checksum !== entry.crc32) throw new UnreadableFileError(0, texts.unreadable.damagedWorkbook)
}

const WORKBOOK = 'xl/workbook.xml'

/** The parts that another part refers to, by the ids of the relationships. */
async function readTargets(archive: Archive, part: string): Promise<Map<string, string>> {
  const targets = new Map<string, string>()
  await readPart(archive, posix.join(posix.dirname(part), '_rels', `${posix.basename(part)}.rels`), {
    open(name, attributes) {
      if (name === 'Relationship')
        targets.set(attribute(attributes, 'Id') ?? '', attribute(attributes, 'Target') ?? '')
    },
  })
  return targets
}

/** The texts of the comments and text boxes of a sheet: one for each comment and each paragraph of a text box. */
async function readComments(archive: Archive, { path }: ListedSheet): Promise<string[]> {
  const found: string[] = []
  let isText = false
  const events: XmlEvents = {
    open(name) {
      if (name === 'comment' || name === 'threadedComment' || name === 'p') found.push('')
      // A threaded comment has its text in an element of that name.
      isText = name === 't' || name === 'text'
    },
    text(text) {
      if (isText && found.length > 0) found[found.length - 1] += text
    },
    close() {
      isText = false
    },
  }
  const targets = [...(await readTargets(archive, path)).values()]
  // Several links may lead to one part.
  const parts = new Set(
    targets.map((target) => new URL(target, `zip:///${path}`).pathname.slice(1).toLowerCase()),
  )
  for (const part of parts) if (isComments(posix.basename(part))) await readPart(archive, part, events)
  return found.filter((text) => text.trim() !== '')
}

const isComments = (name: string) => name.endsWith('.xml') && /comment|drawing/.test(name)

/** Reads the list of sheets, and whether dates count from 1904. */
async function readSheets(archive: Archive): Promise<{ sheets: ListedSheet[]; date1904: boolean }> {
  const targets = await readTargets(archive, WORKBOOK)
  const found: { name: string; id: string; isHidden: boolean }[] = []
  let date1904 = false
  const exists = await readPart(archive, WORKBOOK, {
    open(name, attributes) {
      if (name === 'workbookPr') date1904 = /^(1|true)$/.test(attribute(attributes, 'date1904') ?? '')
      if (name !== 'sheet') return
      const state = attribute(attributes, 'state') ?? 'visible'
      const id = attribute(attributes, 'id') ?? ''
      found.push({ name: attribute(attributes, 'name') ?? '', id, isHidden: state !== 'visible' })
    },
  })
  if (!exists) throw new UnreadableFileError(0, await problemOfArchive(archive))
  const sheets = found.map(({ id, ...sheet }) => ({ ...sheet, path: partPath(targets.get(id) ?? '') }))
  return { sheets: sheets.filter(({ path }) => archive.entries.has(path.toLowerCase())), date1904 }
}

/** What is wrong with an archive that has no workbook of XLSX. */
async function problemOfArchive({ zip, entries }: Archive): Promise<string> {
  if (entries.has('xl/workbook.bin')) return texts.unreadable.binaryWorkbook
  if ([...entries.keys()].some((name) => name.endsWith('.iwa'))) return texts.unreadable.numbers
  const mimetype = entries.get('mimetype')
  if (mimetype && mimetype.uncompressedSize < 200) {
    const chunks = await (await zip.openReadStreamPromise(mimetype)).toArray()
    if (Buffer.concat(chunks).includes('opendocument.spreadsheet')) return texts.unreadable.openDocument
  }
  return texts.unreadable.zipWithoutWorkbook
}

/** The path of a part that the workbook refers to. */
const partPath = (target: string) => (target.startsWith('/') ? target.slice(1) : `xl/${target}`)

/** The texts that cells refer to by number. Phonetic hints (`rPh`) do not belong to the text. */
async function readSharedStrings(archive: Archive): Promise<string[]> {
  const strings: string[] = []
  let text = ''
  let isText = false
  let isPhonetic = false
  const runs = createRuns()
  const events: XmlEvents = {
    open(name, attributes) {
      if (name === 'si') text = ''
      if (name === 'rPh') isPhonetic = true
      isText = name === 't' && !isPhonetic
      runs.open(name, attributes)
    },
    text(part) {
      if (!isText) return
      text += runs.shown(part, text)
      if (text.length > MAX_CELL_LENGTH) throw new UnreadableFileError(0, texts.unreadable.longCell)
    },
    close(name) {
      isText = false
      if (name === 'rPh') isPhonetic = false
      runs.close(name)
      if (name === 'si') strings.push(text)
    },
  }
  await readPart(archive, 'xl/sharedStrings.xml', events)
  return strings
}
