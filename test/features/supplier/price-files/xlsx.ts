import { strToU8, zipSync } from 'fflate'

/**
 * A cell: text, a number, or a number with a format (its pattern, or the number of a built-in one). `rich` is text in several fonts,
 * or with a `format` such as `<strike/>`; `xml` is the element as it is.
 */
export type Cell =
  | string
  | number
  | null
  | { value: number; format: string | number }
  | { rich: (string | { text: string; format: string })[] }
  | { error: string }
  | { boolean: boolean }
  | { xml: string }

export interface Sheet {
  name: string
  rows: Cell[][]
  hidden?: boolean
}

export interface WorkbookOptions {
  /** Where the texts are: shared (Excel, LibreOffice) or in the cells (many programs). */
  texts?: 'shared' | 'inline'
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

/** The shared strings and the formats of a workbook, which its cells refer to by number. */
function createCells(texts: WorkbookOptions['texts']) {
  const strings = new Map<string, number>()
  const formats: (string | number)[] = ['General']
  const shared = (content: string) => {
    if (!strings.has(content)) strings.set(content, strings.size)
    return strings.get(content)
  }
  const styleOf = (format: string | number | undefined) => {
    if (format === undefined) return ''
    if (!formats.includes(format)) formats.push(format)
    return ` s="${formats.indexOf(format)}"`
  }
  const text = (content: string, reference: string) =>
    texts === 'inline'
      ? `<c${reference} t="inlineStr"><is>${content}</is></c>`
      : `<c${reference} t="s"><v>${shared(content)}</v></c>`
  const run = (part: string) => `<t xml:space="preserve">${escapeXml(part)}</t>`

  function richRun(part: string | { text: string; format: string }): string {
    const { text, format } = typeof part === 'string' ? { text: part, format: '<b/>' } : part
    return `<r><rPr>${format}</rPr>${run(text)}</r>`
  }

  function xmlOf(cell: Cell, reference: string): string {
    if (cell === null) return ''
    if (typeof cell === 'string') return text(run(cell), reference)
    if (typeof cell === 'number') return `<c${reference}><v>${cell}</v></c>`
    if ('xml' in cell) return cell.xml
    if ('rich' in cell) return text(cell.rich.map(richRun).join(''), reference)
    if ('error' in cell) return `<c${reference} t="e"><f>NOWHERE</f><v>${cell.error}</v></c>`
    if ('boolean' in cell) return `<c${reference} t="b"><v>${Number(cell.boolean)}</v></c>`
    return `<c${reference}${styleOf(cell.format)}><v>${cell.value}</v></c>`
  }

  return { xmlOf, strings, formats }
}

/** The styles: each format as a cell style. */
function stylesXml(formats: readonly (string | number)[]): string {
  const custom = formats.map((code, index) =>
    typeof code === 'string' ? `<numFmt numFmtId="${164 + index}" formatCode="${escapeXml(code)}"/>` : '',
  )
  const styles = formats.map(
    (code, index) => `<xf numFmtId="${typeof code === 'string' ? 164 + index : code}" fontId="0"/>`,
  )
  return `${HEAD}<styleSheet xmlns="${MAIN}"><numFmts>${custom.join('')}</numFmts><cellStyleXfs><xf numFmtId="0"/></cellStyleXfs><cellXfs>${styles.join('')}</cellXfs></styleSheet>`
}

/** The list of sheets, and the parts that they are in. */
function listXml(sheets: readonly Sheet[]): Record<string, string> {
  const list = sheets.map(
    ({ name, hidden }, index) =>
      `<sheet name="${escapeXml(name)}" sheetId="${index + 1}"${hidden ? ' state="hidden"' : ''} r:id="rId${index + 1}"/>`,
  )
  const relations = sheets.map(
    (_, index) =>
      `<Relationship Id="rId${index + 1}" Type="${RELATIONS}/worksheet" Target="worksheets/sheet${index + 1}.xml"/>`,
  )
  return {
    'xl/workbook.xml': `${HEAD}<workbook xmlns="${MAIN}" xmlns:r="${RELATIONS}"><sheets>${list.join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `${HEAD}<Relationships>${relations.join('')}</Relationships>`,
  }
}

/** An XLSX workbook (ECMA-376), written by hand: it shares no code with the reader. */
export function workbook(sheets: Sheet[], options: WorkbookOptions = {}): Uint8Array {
  const { xmlOf, strings, formats } = createCells(options.texts)
  const rowXml = (cells: Cell[], row: number) => {
    const place = (column: number) =>
      options.withoutReferences ? '' : ` r="${columnName(column)}${row + 1}"`
    const inside = cells.map((cell, column) => xmlOf(cell, place(column))).join('')
    return `<row${options.withoutReferences ? '' : ` r="${row + 1}"`}>${inside}</row>`
  }
  const parts: Record<string, string> = {}
  for (const [index, { rows }] of sheets.entries())
    parts[`xl/worksheets/sheet${index + 1}.xml`] =
      `${HEAD}<worksheet xmlns="${MAIN}"><sheetData>${rows.map(rowXml).join('')}</sheetData></worksheet>`
  const texts = [...strings.keys()].map((content) => `<si>${content}</si>`)
  const all = {
    '[Content_Types].xml': `${HEAD}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`,
    ...listXml(sheets),
    'xl/styles.xml': stylesXml(formats),
    'xl/sharedStrings.xml': `${HEAD}<sst xmlns="${MAIN}">${texts.join('')}</sst>`,
    ...parts,
    ...options.parts,
  }
  const bytes = Object.entries(all).map(([path, part]) => [
    path,
    typeof part === 'string' ? strToU8(part) : part,
  ])
  return zipSync(Object.fromEntries(bytes), { level: 6 })
}
