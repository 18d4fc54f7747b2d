/** A modal window: the browser's own <dialog>, which keeps the focus inside, closes on Escape and gives the focus back. */
import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'

interface DialogProps {
  title: ComponentChildren
  onClose: () => void
  children: ComponentChildren
  /** sheet: at the side, high as the window. */
  kind?: 'box' | 'sheet'
  /** Where the focus goes when what had it is gone: a dialog opened by its address, a row that moved meanwhile. */
  opener?: string
  /** Nobody may leave it now: what was asked for in it is on its way. */
  stays?: boolean
}

export function Dialog({ title, onClose, children, kind = 'box', opener, stays = false }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  // Before it is painted: what stands in it must have the focus from the first moment on.
  useLayoutEffect(() => {
    const dialog = element.current
    if (dialog === null) return undefined
    const before = document.activeElement
    if (!dialog.open) dialog.showModal()
    return () => {
      if (dialog.open) dialog.close()
      const known = before instanceof HTMLElement && before !== document.body && before.isConnected
      const back = known ? before : document.querySelector(opener ?? '#main')
      if (back instanceof HTMLElement) back.focus({ preventScroll: true })
    }
  }, [])
  const leave = (): void => {
    if (!stays) onClose()
  }
  return (
    <dialog
      ref={element}
      class={kind}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        leave()
      }}
      onClose={({ currentTarget: dialog }) => {
        // Of several times Escape in a row a browser carries out the last one, whatever came of its cancelling.
        if (!dialog.isConnected || dialog.open) return
        if (stays) dialog.showModal()
        else onClose()
      }}
      onMouseDown={(event) => {
        if (event.target === event.currentTarget && isOutside(event.currentTarget, event)) leave()
      }}
    >
      <div class="dialog-inside">
        <header>
          <h2 id={id}>{title}</h2>
          <button type="button" class="quiet icon" aria-label="Close" disabled={stays} onClick={leave}>
            ✕
          </button>
        </header>
        {children}
      </div>
    </dialog>
  )
}

/** Not all that lies outside what is in it is the backdrop: the window's own scrollbar is not. */
function isOutside(dialog: HTMLElement, { clientX, clientY }: MouseEvent): boolean {
  const { left, right, top, bottom } = dialog.getBoundingClientRect()
  return clientX < left || clientX > right || clientY < top || clientY > bottom
}
