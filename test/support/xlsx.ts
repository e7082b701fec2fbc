import { strToU8, zipSync } from 'fflate'

/** A cell: text, a number, or a number with a format; `formula` also as the program that wrote it computed it. */
export type Cell =
  | string
  | number
  | null
  | { value: number; format: string }
  | { error: string }
  | { boolean: boolean }

export interface Sheet {
  name: string
  rows: Cell[][]
  hidden?: boolean
}

export interface WorkbookOptions {
  /** Where the texts are: shared (Excel, LibreOffice) or in the cells (many programs). */
  texts?: 'shared' | 'inline'
  date1904?: boolean
  /** Leaves out the positions of rows and cells, as some programs do. */
  withoutReferences?: boolean
  /** Other parts of the archive, by path; they replace those of the workbook. */
  parts?: Record<string, string | Uint8Array>
}

const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'

const escapeXml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

function columnName(index: number): string {
  const letter = String.fromCharCode(65 + (index % 26))
  return index < 26 ? letter : columnName(Math.floor(index / 26) - 1) + letter
}

/** An XLSX workbook (ECMA-376), written by hand: it shares no code with the reader. */
export function workbook(sheets: Sheet[], options: WorkbookOptions = {}): Uint8Array {
  const strings = new Map<string, number>()
  const formats = ['General']
  const cellXml = (cell: Cell, reference: string): string => {
    if (cell === null) return ''
    if (typeof cell === 'string' && options.texts === 'inline')
      return `<c${reference} t="inlineStr"><is><t xml:space="preserve">${escapeXml(cell)}</t></is></c>`
    if (typeof cell === 'string') {
      if (!strings.has(cell)) strings.set(cell, strings.size)
      return `<c${reference} t="s"><v>${strings.get(cell)}</v></c>`
    }
    if (typeof cell === 'number') return `<c${reference}><v>${cell}</v></c>`
    if ('error' in cell) return `<c${reference} t="e"><f>NOWHERE</f><v>${cell.error}</v></c>`
    if ('boolean' in cell) return `<c${reference} t="b"><v>${Number(cell.boolean)}</v></c>`
    if (!formats.includes(cell.format)) formats.push(cell.format)
    return `<c${reference} s="${formats.indexOf(cell.format)}"><v>${cell.value}</v></c>`
  }
  const rowXml = (cells: Cell[], row: number) => {
    const place = (column: number) =>
      options.withoutReferences ? '' : ` r="${columnName(column)}${row + 1}"`
    const inside = cells.map((cell, column) => cellXml(cell, place(column))).join('')
    return `<row${options.withoutReferences ? '' : ` r="${row + 1}"`}>${inside}</row>`
  }
  const sheetXml = ({ rows }: Sheet) =>
    `${HEAD}<worksheet xmlns="${MAIN}"><sheetData>${rows.map(rowXml).join('')}</sheetData></worksheet>`
  const parts: Record<string, string> = {}
  for (const [index, sheet] of sheets.entries())
    parts[`xl/worksheets/sheet${index + 1}.xml`] = sheetXml(sheet)
  const list = sheets
    .map(
      ({ name, hidden }, index) =>
        `<sheet name="${escapeXml(name)}" sheetId="${index + 1}"${hidden ? ' state="hidden"' : ''} r:id="rId${index + 1}"/>`,
    )
    .join('')
  const relations = sheets.map(
    (_, index) =>
      `<Relationship Id="rId${index + 1}" Type="${RELATIONS}/worksheet" Target="worksheets/sheet${index + 1}.xml"/>`,
  )
  const custom = formats.map(
    (code, index) => `<numFmt numFmtId="${164 + index}" formatCode="${escapeXml(code)}"/>`,
  )
  const styles = formats.map((_, index) => `<xf numFmtId="${164 + index}" fontId="0"/>`)
  const texts = [...strings.keys()].map((text) => `<si><t xml:space="preserve">${escapeXml(text)}</t></si>`)
  return zipSync(
    Object.fromEntries(
      Object.entries({
        '[Content_Types].xml': `${HEAD}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`,
        'xl/workbook.xml': `${HEAD}<workbook xmlns="${MAIN}" xmlns:r="${RELATIONS}"><workbookPr${options.date1904 ? ' date1904="1"' : ''}/><sheets>${list}</sheets></workbook>`,
        'xl/_rels/workbook.xml.rels': `${HEAD}<Relationships>${relations.join('')}</Relationships>`,
        'xl/styles.xml': `${HEAD}<styleSheet xmlns="${MAIN}"><numFmts>${custom.join('')}</numFmts><cellStyleXfs><xf numFmtId="0"/></cellStyleXfs><cellXfs>${styles.join('')}</cellXfs></styleSheet>`,
        'xl/sharedStrings.xml': `${HEAD}<sst xmlns="${MAIN}">${texts.join('')}</sst>`,
        ...parts,
        ...options.parts,
      }).map(([path, part]) => [path, typeof part === 'string' ? strToU8(part) : part]),
    ),
    { level: 6 },
  )
}
