package memory_test

import (
	"testing"

	"ken/internal/store"
	"ken/internal/store/memory"
	"ken/internal/store/storetest"
)

func TestConformance(t *testing.T) {
	storetest.Run(t, func(*testing.T) store.Files { return memory.New() })
}

func TestSurveyConformance(t *testing.T) {
	storetest.RunSurvey(t, func(*testing.T) storetest.SurveyStore { return memory.New() })
}

func TestShareConformance(t *testing.T) {
	storetest.RunShare(t, func(*testing.T) storetest.ShareStore { return memory.New() })
}
