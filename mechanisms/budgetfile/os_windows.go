package budgetfile

import (
	"os"

	"golang.org/x/sys/windows"
)

// tryLock takes the lock if nobody has it. It belongs to the handle: also two goroutines
// of one program exclude each other. Nobody can read or write bytes that are locked, so it
// is on one far behind the end.
func tryLock(file *os.File) (bool, error) {
	at := &windows.Overlapped{OffsetHigh: 1 << 30}
	err := windows.LockFileEx(windows.Handle(file.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, at)
	if err == windows.ERROR_LOCK_VIOLATION || err == windows.ERROR_IO_PENDING {
		return false, nil
	}
	return err == nil, err
}

// syncDirectory has nothing to do: NTFS journals names.
func syncDirectory(string) error { return nil }

// names counts a file's hard links.
func names(file *os.File) (uint64, error) {
	var info windows.ByHandleFileInformation
	err := windows.GetFileInformationByHandle(windows.Handle(file.Fd()), &info)
	return uint64(info.NumberOfLinks), err
}
