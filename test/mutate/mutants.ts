/** Finds the places of a source file where one small fault can be put in, and puts all of them in behind a switch. */
import { parse } from '@babel/parser'

/** One small fault in the code. */
export interface Mutant {
  /** Unique in one run, from 1. */
  id: number
  file: string
  line: number
  original: string
  mutant: string
}

/** A node of Babel's syntax tree, as far as this file needs it. */
interface Node {
  type: string
  start: number
  end: number
  loc: { start: { line: number } }
  [field: string]: unknown
}

const OPERATORS: Record<string, string[]> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '%': ['*'],
  '&&': ['||'],
  '||': ['&&'],
}
/** Logging and events of monitoring: no promise of the code depends on them. */
const UNTOUCHED_CALL = /^(\w+\.)*log(\.\w+|\[.*\])$|^log[A-Z]\w*$|^publish\w*$/
/** A constant with such an initializer has the same value wherever it is computed. */
const PLAIN =
  /^(NumericLiteral|StringLiteral|BooleanLiteral|NullLiteral|ObjectExpression|ObjectProperty|ArrayExpression|BinaryExpression|UnaryExpression|Identifier|TSAsExpression|SpreadElement)$/

/** `code` does what mutant number `globalThis.mutation.active` says; with 0, what the source says. */
export interface Instrumented {
  code: string
  /** Those that were put in. */
  mutants: Mutant[]
  /** How many there are, wanted or not. */
  count: number
}

/** Finds the mutants of a file. `firstId`: the id of the first one. `isWanted` decides which of them are put in. */
export function instrument(
  file: string,
  source: string,
  firstId: number,
  isWanted: (id: number) => boolean = () => true,
): Instrumented {
  const program = parse(source, { sourceType: 'module', plugins: ['typescript'] }).program as unknown as Node
  const mutants: Mutant[] = []
  const constants = new Map<string, { id: number; text: string }[]>()
  const publishers = publishersOf(program, source)
  let nextId = firstId

  const text = (node: Node) => source.slice(node.start, node.end)
  const isUntouched = (node: Node) =>
    node.type === 'CallExpression' &&
    (UNTOUCHED_CALL.test(text(node.callee as Node)) || publishers.has(text(node.callee as Node)))

  /** Lists the mutant, and returns its id, or null if it is not wanted. */
  function add(node: Node, replacement: string, original = text(node)): number | null {
    const id = nextId++
    if (!isWanted(id)) return null
    mutants.push({
      id,
      file,
      line: node.loc.start.line,
      original: short(original),
      mutant: short(replacement),
    })
    return id
  }

  function render(node: Node, parent: Node | null, field: string): string {
    if (isUntouched(node)) return text(node)
    const inside = renderChildren(node)
    if (node.type === 'ExpressionStatement') return renderStatement(node, inside)
    if (node.type === 'ReturnStatement' && isEarly(parent)) {
      const id = add(node, '(no return)')
      return id === null ? inside : `if (!mutant__(${id})) { ${inside} }`
    }
    if (node.type === 'Identifier') return renderReference(node, parent, field)
    return choose(
      replacements(node, parent, field, text).flatMap((replacement) => {
        const id = add(node, replacement)
        return id === null ? [] : [{ id, text: replacement }]
      }),
      inside,
    )
  }

  function renderChildren(node: Node, renderChild = render): string {
    let [code, position] = ['', node.start]
    for (const { child, field } of childrenOf(node)) {
      code += source.slice(position, child.start) + renderChild(child, node, field)
      position = child.end
    }
    return code + source.slice(position, node.end)
  }

  /** A call as a statement can be left out. The braces keep a line that begins with a bracket apart from the one before. */
  function renderStatement(node: Node, inside: string): string {
    const isCall = /^(CallExpression|OptionalCallExpression)$/.test(callOf(node.expression as Node).type)
    const id = isCall && !isUntouched(callOf(node.expression as Node)) ? add(node, '(removed)') : null
    if (id !== null) return `{ if (!mutant__(${id})) { ${inside} } }`
    return inside === text(node) ? inside : `{ ${inside} }`
  }

  /** A mutant of a constant of the module is put in where the constant is used. */
  function renderReference(node: Node, parent: Node | null, field: string): string {
    const own = constants.get(node.name as string)
    const isProperty = field === 'property' && parent?.computed !== true
    if (!own || isProperty || field === 'id') return text(node)
    const chosen = choose(own, text(node))
    return parent?.type === 'ObjectProperty' && parent.shorthand === true ? `${node.name}: ${chosen}` : chosen
  }

  /** An initializer of a constant, with the mutants of the constants that it uses. */
  function renderInitializer(node: Node, parent: Node | null, field: string): string {
    if (node.type === 'Identifier') return renderReference(node, parent, field)
    return renderChildren(node, renderInitializer)
  }

  /** What an exported constant is, other files see as well. */
  function renderConstants(statement: Node, plain: { name: string; init: Node }[]): string {
    let [code, position] = ['', statement.start]
    for (const { name, init } of plain) {
      const own = statement.type === 'ExportNamedDeclaration' ? (constants.get(name) ?? []) : []
      code += source.slice(position, init.start) + choose(own, renderInitializer(init, null, 'init'))
      position = init.end
    }
    return code + source.slice(position, statement.end)
  }

  /** Calls `visit` with each replacement in an initializer. */
  function eachReplacement(
    node: Node,
    parent: Node,
    field: string,
    visit: (node: Node, replacement: string) => void,
  ): void {
    for (const replacement of replacements(node, parent, field, text)) visit(node, replacement)
    for (const { child, field } of childrenOf(node)) eachReplacement(child, node, field, visit)
  }

  for (const statement of program.body as Node[]) {
    for (const { name, init } of plainConstants(statement)) {
      const found = new Map<number, string>()
      eachReplacement(init, statement, 'init', (node, replacement) => {
        const id = add(node, replacement)
        const [before, after] = [source.slice(init.start, node.start), source.slice(node.end, init.end)]
        if (id !== null) found.set(id, `(${before}${replacement}${after})`)
      })
      constants.set(
        name,
        [...found].map(([id, replaced]) => ({ id, text: replaced })),
      )
    }
  }

  let code = ''
  let position = 0
  for (const statement of program.body as Node[]) {
    code += source.slice(position, statement.start)
    position = statement.end
    const plain = plainConstants(statement)
    if (plain.length > 0) code += renderConstants(statement, plain)
    else if (statement.type === 'ImportDeclaration') code += text(statement)
    else code += render(statement, null, '')
  }

  return { code: `${code}${source.slice(position)}\n${SWITCH}`, mutants, count: nextId - firstId }
}

/** Tells whether a mutant is active, and notes that it was reached. A loop that a mutant makes endless is ended. */
const SWITCH = `function mutant__(id) {
  const state = (globalThis.mutation ??= { active: 0, reached: new Set(), calls: 0 })
  if (state.active === 0) state.reached.add(id)
  else if (++state.calls > 2_000_000) throw new Error('an endless loop')
  return state.active === id
}
`

const choose = (own: { id: number; text: string }[], original: string) =>
  own.length === 0
    ? original
    : `(${own.map(({ id, text }) => `mutant__(${id}) ? ${text} : `).join('')}${original})`

/** The texts that an expression can be replaced with. */
function replacements(
  node: Node,
  parent: Node | null,
  field: string,
  text: (node: Node) => string,
): string[] {
  const found = ownReplacements(node, text)
  const isTest = field === 'test' && parent !== null
  if (isTest && /^(IfStatement|ConditionalExpression)$/.test(parent.type)) found.push('true', 'false')
  if (isTest && /^(While|For|DoWhile)/.test(parent.type) && text(node) !== 'true') found.push('false')
  return [...new Set(found)].filter((each) => each !== text(node)).map((each) => `(${each})`)
}

function ownReplacements(node: Node, text: (node: Node) => string): string[] {
  const [left, right] = [node.left as Node, node.right as Node]
  switch (node.type) {
    case 'BinaryExpression':
      if (node.operator === '+' && [left, right].some(({ type }) => /String|Template/.test(type))) return []
      return swapped(node, text)
    case 'LogicalExpression':
      return node.operator === '??' ? [text(left)] : swapped(node, text)
    case 'AssignmentExpression':
      if (node.operator === '+=') return [`${text(left)} -= ${text(right)}`]
      return node.operator === '||=' ? [`${text(left)} &&= ${text(right)}`] : []
    case 'UpdateExpression': {
      const operator = node.operator === '++' ? '--' : '++'
      const operand = text(node.argument as Node)
      return [node.prefix === true ? operator + operand : operand + operator]
    }
    case 'UnaryExpression':
      if (node.operator === '!') return [text(node.argument as Node)]
      return node.operator === '-' ? [text(node.argument as Node)] : []
    case 'BooleanLiteral':
      return [node.value === true ? 'false' : 'true']
    case 'NumericLiteral':
      return [node.value === 0 ? '1' : node.value === 1 ? '0' : `${text(node)} * 2`]
    case 'NullLiteral':
      return ['undefined']
    default:
      return []
  }
}

/** The same operands with another operator. */
function swapped(node: Node, text: (node: Node) => string): string[] {
  const [left, right] = [node.left as Node, node.right as Node]
  const whole = text(node)
  const [leftEnd, rightStart] = [left.end - node.start, right.start - node.start]
  const between = whole.slice(leftEnd, rightStart)
  const operator = node.operator as string
  return (OPERATORS[operator] ?? []).map(
    (other) => whole.slice(0, leftEnd) + between.replace(operator, other) + whole.slice(rightStart),
  )
}

/**
 * A return in a block that is not the body of a function. If it is all that an `if` does, the mutant whose condition is
 * always false is the same.
 */
const isEarly = (parent: Node | null): boolean =>
  parent?.type === 'BlockStatement' &&
  parent.inside !== 'function' &&
  !(parent.inside === 'if' && (parent.body as Node[]).length === 1)

/** The call of `f()`, `await f()` and `void f()`. */
function callOf(node: Node): Node {
  return node.type === 'AwaitExpression' || (node.type === 'UnaryExpression' && node.operator === 'void')
    ? callOf(node.argument as Node)
    : node
}

/** The nodes in a node that are code, in their order. Types are no code. */
function childrenOf(node: Node): { child: Node; field: string }[] {
  const found = Object.entries(node).flatMap(([field, value]) =>
    field === 'loc' || field.endsWith('omments')
      ? []
      : [value].flat().flatMap((child) => (isNode(child) ? [{ child, field }] : [])),
  )
  const inside = node.type === 'IfStatement' ? 'if' : /Function|Method/.test(node.type) ? 'function' : 'other'
  for (const { child } of found) if (child.type === 'BlockStatement') child.inside = inside
  const isCode = ({ child, field }: { child: Node; field: string }) =>
    (!/^TS|^(TypeAnnotation|TemplateElement)/.test(child.type) ||
      /^TS(As|Satisfies|NonNull)/.test(child.type)) &&
    !(field === 'key' && node.computed !== true)
  return found.filter(isCode).sort((a, b) => a.child.start - b.child.start)
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && 'start' in value && 'end' in value

/** The constants of a module whose value does not depend on when it is computed. */
function plainConstants(statement: Node): { name: string; init: Node }[] {
  const declaration =
    statement.type === 'ExportNamedDeclaration' ? ((statement.declaration ?? statement) as Node) : statement
  if (declaration.type !== 'VariableDeclaration' || declaration.kind !== 'const') return []
  const found = (declaration.declarations as Node[]).map(({ id, init }) => ({
    name: (id as Node).name as string,
    init: init as Node,
  }))
  return found.every(({ name, init }) => name !== undefined && init && isPlain(init)) ? found : []
}

const isPlain = (node: Node): boolean =>
  PLAIN.test(node.type) && childrenOf(node).every(({ child }) => isPlain(child))

/** The names of functions that do nothing but publish an event. */
function publishersOf(node: Node, source: string): Set<string> {
  const names = new Set<string>()
  const visit = (each: Node) => {
    const [id, init] = [each.id as Node | undefined, each.init as Node | undefined]
    if (each.type === 'VariableDeclarator' && init?.type === 'ArrowFunctionExpression') {
      const body = init.body as Node
      if (body.type === 'CallExpression' && /^publish/.test(source.slice(body.start, body.end)))
        names.add(source.slice(id?.start, id?.end))
    }
    for (const { child } of childrenOf(each)) visit(child)
  }
  visit(node)
  return names
}

const short = (code: string) => {
  const line = code.replace(/\s+/g, ' ').replace(/^\((.*)\)$/, '$1')
  return line.length > 90 ? `${line.slice(0, 87)}...` : line
}
